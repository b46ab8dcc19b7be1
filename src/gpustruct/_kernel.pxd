"""csrc/scatter.h for Cython, and what the other compiled modules use of this one."""

from libc.stdint cimport int32_t, int64_t, uintptr_t


cdef extern from "scatter.h" nogil:
    # `cpdef` makes them constants of the Python module.
    cpdef enum:
        TYPE_F16, TYPE_F32, TYPE_F64, TYPE_I8, TYPE_I16, TYPE_I32, TYPE_I64, TYPE_U8, TYPE_U16, TYPE_U32, TYPE_U64
        TYPE_BOOL, TYPE_UNORM8, TYPE_SNORM8, TYPE_UNORM16, TYPE_SNORM16, TYPE_UNORM8X4_BGRA, TYPE_UNORM10_10_10_2
        SLOT_12_4, SLOT_8_8, SLOT_8_4_4, SLOT_4_4_8, SLOT_4_4_4_4
        STEP_SLOT, STEP_COPY, STEP_ZERO, STEP_TRANSPOSE, STEP_CONVERT_IN, STEP_CONVERT_OUT, STEP_CONVERT_ARRAY
        STEP_MASK
        MODE_PLAIN, MODE_STREAM, MODE_CHECK
    enum:
        TYPE_COUNT
    const int scatter_type_size[]
    const char *const scatter_type_name[]
    ctypedef struct scatter_step:
        pass
    ctypedef struct scatter_loop:
        int64_t count, column_step, record_step
    ctypedef struct scatter_plan:
        const scatter_step *steps
        const scatter_loop *loops
        char **bases
        const int64_t *strides
        const int64_t *shape
        const int64_t *temps
        int32_t step_count, columns, ndim, temp_count
        int64_t size
    ctypedef struct scatter_status:
        int64_t record
        int32_t leaf
    ctypedef ptrdiff_t (*scatter_convert)(void *to, const void *from_, ptrdiff_t n) noexcept
    ctypedef struct scatter_isa:
        pass
    const scatter_isa *scatter_isa_at(int index)
    const char *scatter_isa_name(const scatter_isa *isa)
    scatter_convert scatter_conversion(const scatter_isa *isa, int from_type, int to_type)

cdef extern from "pool.h" nogil:
    int pool_init()
    void pool_after_fork()
    scatter_status pool_scatter(const scatter_isa *isa, const scatter_plan *plan, char *to, int64_t stride,
                                int64_t start, int64_t stop, int mode, int workers)
    scatter_status pool_gather(const scatter_isa *isa, const scatter_plan *plan, const char *from_, int64_t stride,
                               int64_t start, int64_t stop, int mode, int workers)


# The conversion of the instruction set in use, or NULL. The C is linked into this module alone, so others call it
# through this.
cdef scatter_convert conversion(int from_type, int to_type) noexcept nogil
# Bytes of a scalar.
cdef int type_size(int code) noexcept nogil


cdef class Plan:
    cdef scatter_plan plan
    cdef void *memory
    cdef public bytes kind


cdef class Run:
    cdef scatter_plan plan
    cdef void *memory
    cdef int64_t *strides
    cdef uintptr_t *extents
    cdef int extent_count
    cdef object shared, keep
    cdef readonly int64_t records
    cdef readonly int64_t size
    cdef bint touches(self, const char *memory, int64_t length) noexcept
    cdef bint scatter_plainly(self, char *to, int64_t stride, int64_t room) noexcept
    cdef tuple run_over(self, records, int flags, int64_t offset, int64_t stride, int64_t start, int64_t stop, int mode,
                        bint forward, int workers)
    cdef int check_range(self, int64_t start, int64_t stop) except -1
    cdef int check_bounds(self, int64_t length, int64_t offset, int64_t stride, int64_t count) except -1


cdef int bind_run(Run run, Plan plan, int columns, int views, int ndim, const int64_t *shape, object keep) except -1
