/* What SCATTER_TYPES says about each type. */
#include "scatter.h"

#define SIZE(NAME, BYTES, PYTHON_NAME) BYTES,
const int scatter_type_size[TYPE_COUNT] = {SCATTER_TYPES(SIZE)};

#define NAME(NAME, BYTES, PYTHON_NAME) PYTHON_NAME,
const char *const scatter_type_name[TYPE_COUNT] = {SCATTER_TYPES(NAME)};
