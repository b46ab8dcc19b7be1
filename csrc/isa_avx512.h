/* What the AVX-512 files share. */
#ifndef GPUSTRUCT_ISA_AVX512_H
#define GPUSTRUCT_ISA_AVX512_H

#include "isa.h"

#ifdef ISA_X86

#include <immintrin.h>

__attribute__((target("avx512f"))) static inline void avx512_store(char *to, __m512i line, int stream) {
    if (stream)
        _mm512_stream_si512((void *)to, line);
    else
        _mm512_storeu_si512((void *)to, line);
}

int avx512_interleave4(interleave4_slot *w, int count, char *to, ptrdiff_t n, int stream);
void avx512_deinterleave4(deinterleave4_slot *w, int count, const char *from, ptrdiff_t n);

#endif

#endif
