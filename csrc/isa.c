/* Which instruction sets this machine runs. */
#include "isa.h"

#ifdef ISA_X86
#include <cpuid.h>

/* Not every compiler can ask for F16C by name. The system saves AVX registers where __builtin_cpu_supports says AVX2.
 */
static int has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

const scatter_isa *scatter_isa_at(int index) {
    const scatter_isa *found[4];
    int count = 0;
    __builtin_cpu_init();
    int avx2 = __builtin_cpu_supports("avx2") && has_f16c();
    int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx2 && avx512) found[count++] = scatter_avx512();
    if (avx2) found[count++] = &scatter_avx2;
    if (__builtin_cpu_supports("sse4.1")) found[count++] = &scatter_sse41;
    found[count++] = &scatter_portable;
    return index >= 0 && index < count ? found[index] : NULL;
}

#elif defined(ISA_NEON)

const scatter_isa *scatter_isa_at(int index) {
    return index == 0 ? scatter_neon() : index == 1 ? &scatter_portable : NULL;
}

#else

const scatter_isa *scatter_isa_at(int index) { return index == 0 ? &scatter_portable : NULL; }

#endif

const char *scatter_isa_name(const scatter_isa *isa) { return isa->name; }

scatter_convert scatter_conversion(const scatter_isa *isa, int from_type, int to_type) {
    return isa->convert(from_type, to_type);
}
