/* Runs the inputs that are named, without libFuzzer: for compilers and processors that do not have it. */
#include <stdio.h>

#include "kernel_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int count, char **names) {
    static uint8_t data[1 << 12];
    for (int k = 1; k < count; k++) {
        FILE *file = fopen(names[k], "rb");
        if (!file) return 1;
        size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("%d inputs agree on", count - 1);
    for (int k = 0; scatter_isa_at(k); k++) printf(" %s", scatter_isa_name(scatter_isa_at(k)));
    printf("\n");
    return 0;
}
