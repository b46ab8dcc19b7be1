/* Floats to and from the normalized formats of vertex data. Included by convert.h. WebGPU §vertex formats. */

/* x rounded to the nearest integer, ties to even, for |x| < 2^31. The low bits of the sum are the integer. */
static inline int32_t nearest(double x) {
    double sum = x + 0x1.8p52;
    int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return (int32_t)bits;
}

/* Also true for NaN. A float's product with the largest integer is exact in double, so it is rounded only once. */
#define OUTSIDE(x, low) ((int)!((x) >= (low)) | (int)!((x) <= 1))

#define ENCODE(N, S) \
    CONVERT_LOOP(N##_unorm8, S, uint8_t, nearest((double)x * 255.0), OUTSIDE(x, 0)) \
    CONVERT_LOOP(N##_snorm8, S, int8_t, nearest((double)x * 127.0), OUTSIDE(x, -1)) \
    CONVERT_LOOP(N##_unorm16, S, uint16_t, nearest((double)x * 65535.0), OUTSIDE(x, 0)) \
    CONVERT_LOOP(N##_snorm16, S, int16_t, nearest((double)x * 32767.0), OUTSIDE(x, -1))

/* Two integers mean -1. Comparing the quotient, and not the integer, is what compilers vectorize. */
#define NOT_BELOW_MINUS_1(x) ((x) < -1 ? -1 : (x))
#define DECODE(N, D) \
    CONVERT_LOOP(unorm8_##N, uint8_t, D, (D)x / (D)255, 0) \
    CONVERT_LOOP(snorm8_##N, int8_t, D, NOT_BELOW_MINUS_1((D)x / (D)127), 0) \
    CONVERT_LOOP(unorm16_##N, uint16_t, D, (D)x / (D)65535, 0) \
    CONVERT_LOOP(snorm16_##N, int16_t, D, NOT_BELOW_MINUS_1((D)x / (D)32767), 0)

#ifndef ISA_ENCODES /* the instruction set has faster ones */
ENCODE(f32, float)
ENCODE(f64, double)
#endif
DECODE(f32, float)
DECODE(f64, double)

/* Swaps red and blue in place, from RGBA to BGRA or back. */
static void swap_red_and_blue(char *bytes, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i += 4) {
        char red = bytes[i];
        bytes[i] = bytes[i + 2];
        bytes[i + 2] = red;
    }
}

static ptrdiff_t f32_bgra(void *to, const void *from, ptrdiff_t n) {
    ptrdiff_t bad = f32_unorm8(to, from, n);
    swap_red_and_blue((char *)to, n);
    return bad;
}

static ptrdiff_t f64_bgra(void *to, const void *from, ptrdiff_t n) {
    ptrdiff_t bad = f64_unorm8(to, from, n);
    swap_red_and_blue((char *)to, n);
    return bad;
}

/* A float or a double; `bytes` is a constant in all calls. */
ALWAYS_INLINE double load_float(const char *from, const int bytes) {
    float single;
    double x;
    if (bytes == 8) {
        memcpy(&x, from, sizeof x);
        return x;
    }
    memcpy(&single, from, sizeof single);
    return (double)single;
}

ALWAYS_INLINE void store_float(char *to, double x, const int bytes) {
    float single = (float)x;
    if (bytes == 8)
        memcpy(to, &x, sizeof x);
    else
        memcpy(to, &single, sizeof single);
}

#ifndef ISA_ENCODES
ALWAYS_INLINE ptrdiff_t encode_unorm10(char *to, const char *from, ptrdiff_t n, const int bytes) {
    unsigned bad = 0;
    for (ptrdiff_t i = 0; i < n; i += 4, to += 4) {
        double x[4];
        for (int k = 0; k < 4; k++) {
            x[k] = load_float(from + (i + k) * bytes, bytes);
            bad |= (unsigned)OUTSIDE(x[k], 0);
        }
        uint32_t red = (uint32_t)nearest(x[0] * 1023.0), green = (uint32_t)nearest(x[1] * 1023.0);
        uint32_t blue = (uint32_t)nearest(x[2] * 1023.0), alpha = (uint32_t)nearest(x[3] * 3.0);
        uint32_t packed = red | green << 10 | blue << 20 | alpha << 30;
        memcpy(to, &packed, sizeof packed);
    }
    for (ptrdiff_t i = 0; bad && i < n; i++)
        if (OUTSIDE(load_float(from + i * bytes, bytes), 0)) return i;
    return -1;
}

static ptrdiff_t f32_unorm10(void *to, const void *from, ptrdiff_t n) { return encode_unorm10(to, from, n, 4); }
static ptrdiff_t f64_unorm10(void *to, const void *from, ptrdiff_t n) { return encode_unorm10(to, from, n, 8); }
#endif

/* For such small integers, rounding to double and then to float gives the same as rounding to float. */
ALWAYS_INLINE ptrdiff_t decode_unorm10(char *to, const char *from, ptrdiff_t n, const int bytes) {
    for (ptrdiff_t i = 0; i < n; i += 4, from += 4, to += 4 * bytes) {
        uint32_t packed;
        memcpy(&packed, from, sizeof packed);
        for (int k = 0; k < 3; k++) store_float(to + k * bytes, (double)(packed >> 10 * k & 1023u) / 1023.0, bytes);
        store_float(to + 3 * bytes, (double)(packed >> 30) / 3.0, bytes);
    }
    return -1;
}

/* Four bytes, in the order blue, green, red, alpha, to four floats. */
ALWAYS_INLINE ptrdiff_t decode_bgra(char *to, const char *from, ptrdiff_t n, const int bytes) {
    static const int place[4] = {2, 1, 0, 3};
    for (ptrdiff_t i = 0; i < n; i += 4)
        for (int k = 0; k < 4; k++)
            store_float(to + (i + k) * bytes, (double)(unsigned char)from[i + place[k]] / 255.0, bytes);
    return -1;
}

static ptrdiff_t unorm10_f32(void *to, const void *from, ptrdiff_t n) { return decode_unorm10(to, from, n, 4); }
static ptrdiff_t unorm10_f64(void *to, const void *from, ptrdiff_t n) { return decode_unorm10(to, from, n, 8); }
static ptrdiff_t bgra_f32(void *to, const void *from, ptrdiff_t n) { return decode_bgra(to, from, n, 4); }
static ptrdiff_t bgra_f64(void *to, const void *from, ptrdiff_t n) { return decode_bgra(to, from, n, 8); }
