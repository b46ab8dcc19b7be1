/* The instruction sets. */
#include "isa.h"

extern const scatter_isa scatter_avx512, scatter_neon;

/* Best first. */
static const scatter_isa *const KNOWN[] = {
#ifdef ISA_X86
    &scatter_avx512,   &scatter_avx2, &scatter_sse41,
#endif
#ifdef ISA_NEON
    &scatter_neon,
#endif
    &scatter_portable,
};

enum { KNOWN_COUNT = sizeof KNOWN / sizeof *KNOWN };

/* `isa` with what it takes from its base. */
static scatter_isa completed(const scatter_isa *isa) {
    scatter_isa made = *isa;
    if (!isa->base) return made;
    scatter_isa base = completed(isa->base);
    for (int k = 0; k < SLOT_COUNT; k++)
        if (!made.slot[k]) made.slot[k] = base.slot[k];
    if (!made.copy) made.copy = base.copy;
    if (!made.transpose) made.transpose = base.transpose;
    if (!made.transpose_back) made.transpose_back = base.transpose_back;
    if (!made.stream) made.stream = base.stream;
    if (!made.fence) made.fence = base.fence;
    if (!made.mask) made.mask = base.mask;
    if (!made.convert) made.convert = base.convert;
    if (!made.interleave4) made.interleave4 = base.interleave4;
    if (!made.deinterleave4) made.deinterleave4 = base.deinterleave4;
    return made;
}

const scatter_isa *scatter_isa_at(int index) {
    static scatter_isa usable[KNOWN_COUNT];
    static int count; /* the first call is made at import, before there are other threads */
    if (count == 0) {
        for (int k = 0; k < KNOWN_COUNT; k++)
            if (KNOWN[k]->runs()) usable[count++] = completed(KNOWN[k]);
    }
    return index >= 0 && index < count ? usable + index : NULL;
}

const char *scatter_isa_name(const scatter_isa *isa) { return isa->name; }

scatter_convert scatter_conversion(const scatter_isa *isa, int from_type, int to_type) {
    return isa->convert(from_type, to_type);
}
