/* Floats to the normalized formats of vertex data with AVX2: eight at a time, or four to one word. Included by
 * isa_avx2.c. The portable code converts the rest, and finds the first value that does not fit. */

/* Four floats or doubles, as doubles: so a float's product with the largest integer is exact. */
ALWAYS_INLINE __m256d load_doubles(const char *from, const int type) {
    if (type == TYPE_F64) return _mm256_loadu_pd((const double *)(const void *)from);
    return _mm256_cvtps_pd(_mm_loadu_ps((const float *)(const void *)from));
}

/* Where x is outside [low, 1], or NaN. */
ALWAYS_INLINE __m256d outside(__m256d x, __m256d low) {
    return _mm256_or_pd(_mm256_cmp_pd(low, x, _CMP_NLE_UQ), _mm256_cmp_pd(x, _mm256_set1_pd(1.0), _CMP_NLE_UQ));
}

/* Eight integers of a format, from two times four. Those that do not fit are found later. */
ALWAYS_INLINE void store_narrow(char *to, __m128i a, __m128i b, const int format) {
    __m128i words = format == TYPE_UNORM16 ? _mm_packus_epi32(a, b) : _mm_packs_epi32(a, b);
    if (format == TYPE_UNORM16 || format == TYPE_SNORM16)
        _mm_storeu_si128((__m128i *)(void *)to, words);
    else
        _mm_storel_epi64((__m128i *)(void *)to,
                         format == TYPE_UNORM8 ? _mm_packus_epi16(words, words) : _mm_packs_epi16(words, words));
}

ALWAYS_INLINE ptrdiff_t encode_rest(char *to, const char *from, ptrdiff_t done, ptrdiff_t n, int type, int format) {
    ptrdiff_t in = scatter_type_size[type], out = scatter_type_size[format];
    if (done == n) return -1;
    ptrdiff_t found = scatter_portable.convert(type, format)(to + done * out, from + done * in, n - done);
    return found < 0 ? -1 : done + found;
}

ALWAYS_INLINE ptrdiff_t encode(void *to, const void *from, ptrdiff_t n, const int type, const int format) {
    const ptrdiff_t in = type == TYPE_F64 ? 8 : 4, out = format == TYPE_UNORM16 || format == TYPE_SNORM16 ? 2 : 1;
    const int is_signed = format == TYPE_SNORM8 || format == TYPE_SNORM16;
    const char *source = (const char *)from;
    char *target = (char *)to;
    const __m256d low = _mm256_set1_pd(is_signed ? -1.0 : 0.0);
    const __m256d scale = _mm256_set1_pd(out == 2 ? is_signed ? 32767.0 : 65535.0 : is_signed ? 127.0 : 255.0);
    __m256d bad = _mm256_setzero_pd();
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256d x = load_doubles(source + i * in, type), y = load_doubles(source + (i + 4) * in, type);
        bad = _mm256_or_pd(bad, _mm256_or_pd(outside(x, low), outside(y, low)));
        store_narrow(target + i * out, _mm256_cvtpd_epi32(_mm256_mul_pd(x, scale)),
                     _mm256_cvtpd_epi32(_mm256_mul_pd(y, scale)), format);
    }
    return encode_rest(target, source, _mm256_movemask_pd(bad) ? 0 : i, n, type, format);
}

/* Red in the low bits, then green, blue and alpha. */
ALWAYS_INLINE ptrdiff_t encode_unorm10(void *to, const void *from, ptrdiff_t n, const int type) {
    const ptrdiff_t in = type == TYPE_F64 ? 8 : 4;
    const char *source = (const char *)from;
    char *target = (char *)to;
    const __m256d scale = _mm256_setr_pd(1023.0, 1023.0, 1023.0, 3.0);
    const __m128i place = _mm_setr_epi32(0, 10, 20, 30);
    __m256d bad = _mm256_setzero_pd();
    for (ptrdiff_t i = 0; i < n; i += 4) {
        __m256d x = load_doubles(source + i * in, type);
        bad = _mm256_or_pd(bad, outside(x, _mm256_setzero_pd()));
        __m128i parts = _mm_sllv_epi32(_mm256_cvtpd_epi32(_mm256_mul_pd(x, scale)), place);
        parts = _mm_or_si128(parts, _mm_shuffle_epi32(parts, 0x4e));
        parts = _mm_or_si128(parts, _mm_shuffle_epi32(parts, 0xb1));
        int32_t word = _mm_cvtsi128_si32(parts);
        memcpy(target + i, &word, sizeof word);
    }
    return encode_rest(target, source, _mm256_movemask_pd(bad) ? 0 : n, n, type, TYPE_UNORM10_10_10_2);
}

#define ENCODE_AS(NAME, TYPE, FORMAT) \
    static ptrdiff_t NAME(void *to, const void *from, ptrdiff_t n) { return encode(to, from, n, TYPE, FORMAT); }
ENCODE_AS(f32_unorm8, TYPE_F32, TYPE_UNORM8)
ENCODE_AS(f32_snorm8, TYPE_F32, TYPE_SNORM8)
ENCODE_AS(f32_unorm16, TYPE_F32, TYPE_UNORM16)
ENCODE_AS(f32_snorm16, TYPE_F32, TYPE_SNORM16)
ENCODE_AS(f64_unorm8, TYPE_F64, TYPE_UNORM8)
ENCODE_AS(f64_snorm8, TYPE_F64, TYPE_SNORM8)
ENCODE_AS(f64_unorm16, TYPE_F64, TYPE_UNORM16)
ENCODE_AS(f64_snorm16, TYPE_F64, TYPE_SNORM16)

static ptrdiff_t f32_unorm10(void *to, const void *from, ptrdiff_t n) { return encode_unorm10(to, from, n, TYPE_F32); }
static ptrdiff_t f64_unorm10(void *to, const void *from, ptrdiff_t n) { return encode_unorm10(to, from, n, TYPE_F64); }
