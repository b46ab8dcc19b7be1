# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""Runs a plan, forward (scatter) and back (gather), without the GIL. The contract is csrc/scatter.h."""

from cpython.buffer cimport (
    PyBUF_CONTIG, PyBUF_FORMAT, PyBUF_SIMPLE, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.stdint cimport int32_t, int64_t, intptr_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset


cdef extern from "scatter.h" nogil:
    # Cython checks the numpy twin of this struct, field by field, when a plan is bound.
    ctypedef struct scatter_step:
        int32_t kind
        int32_t count
        int32_t column[4]
        int64_t offset[4]
        int64_t at
        int64_t step
        int32_t from_type
        int32_t to_type
        int32_t swap
        int32_t rows
        int32_t cols
        int32_t loop_first
        int32_t loop_count
        int32_t leaf
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
    ctypedef ptrdiff_t (*scatter_convert)(void *to, const void *from_, ptrdiff_t n)
    ctypedef struct scatter_isa:
        const char *name
        scatter_convert (*convert)(int from_type, int to_type)
    const scatter_isa *scatter_isa_at(int index)
    int64_t scatter_block(const scatter_plan *plan, int64_t stride)
    int64_t scatter_scratch(const scatter_plan *plan, int64_t stride)
    int64_t gather_scratch(const scatter_plan *plan, int64_t stride)
    scatter_status scatter_run(const scatter_isa *isa, const scatter_plan *plan, char *to, int64_t stride,
                               int64_t start, int64_t stop, int mode, char *scratch)
    scatter_status gather_run(const scatter_isa *isa, const scatter_plan *plan, const char *from_, int64_t stride,
                              int64_t start, int64_t stop, int mode, char *scratch)

PLAIN, STREAM, CHECK = 0, 1, 2
OVERLAP = -2

cdef const scatter_isa *chosen = scatter_isa_at(0)
cdef enum:
    PLAIN_MODE = 0
    LINE = 64
    STACK_SCRATCH = 16384


def isas():
    """The names of the instruction sets that this machine runs, best first."""
    names, index = [], 0
    while scatter_isa_at(index) != NULL:
        names.append(scatter_isa_at(index).name.decode())
        index += 1
    return tuple(names)


def isa():
    """The name of the instruction set in use."""
    return chosen.name.decode()


def use_isa(str name):
    """Use another instruction set from now on; returns the one that was in use."""
    global chosen
    before, index = isa(), 0
    while scatter_isa_at(index) != NULL:
        if scatter_isa_at(index).name.decode() == name:
            chosen = scatter_isa_at(index)
            return before
        index += 1
    raise ValueError(f"this machine runs {', '.join(isas())} (current: {name}) - at use_isa(...); pick one of them")


cdef scatter_status run_records(const scatter_plan *plan, char *memory, int64_t stride, int64_t start, int64_t stop,
                                int mode, bint forward) noexcept nogil:
    """Scatter or gather records [start, stop) in this thread, with scratch space of its own."""
    cdef char stack[STACK_SCRATCH + LINE]
    cdef int64_t bytes = scatter_scratch(plan, stride) if forward else gather_scratch(plan, stride)
    cdef char *heap = NULL
    cdef char *scratch = stack
    cdef scatter_status status
    status.record = -1
    status.leaf = 0
    if start == stop:
        return status
    if bytes > STACK_SCRATCH:
        heap = scratch = <char *>malloc(bytes + LINE)
        if heap == NULL:
            status.record = start
            status.leaf = -1
            return status
    scratch += (LINE - <uintptr_t>scratch % LINE) % LINE
    if forward:
        status = scatter_run(chosen, plan, memory, stride, start, stop, mode, scratch)
    else:
        status = gather_run(chosen, plan, memory, stride, start, stop, mode, scratch)
    free(heap)
    return status


include "_pool.pxi"


cdef void extent(Py_buffer *view, uintptr_t *low_high) noexcept:
    """The first byte of an array, and the one behind its last; nothing for an empty one."""
    cdef int d
    low_high[0] = low_high[1] = <uintptr_t>view.buf
    for d in range(view.ndim):
        if view.shape[d] == 0:
            return
    for d in range(view.ndim):
        low_high[0 if view.strides[d] < 0 else 1] += view.strides[d] * (view.shape[d] - 1)
    low_high[1] += view.itemsize


cdef class Run:
    """A plan bound to columns: everything that packing or unpacking them again needs.

    Keeps references to the arrays, whose memory it reads or writes; `records` and `size` count records
    and bytes of one record.
    """

    cdef scatter_plan plan
    cdef void *memory
    cdef uintptr_t *extents
    cdef int reach
    cdef object arrays
    cdef readonly int64_t records
    cdef readonly int64_t size

    def __cinit__(self):
        self.memory = NULL
        self.extents = NULL

    def __init__(self, const scatter_step[::1] steps, const int64_t[:, ::1] loops, list arrays, tuple views,
                 const int64_t[:, ::1] strides, const int64_t[::1] shape, const int64_t[::1] temps, int64_t size,
                 bint writable):
        cdef int columns = len(arrays), ndim = shape.shape[0], k
        cdef size_t step_bytes = steps.shape[0] * sizeof(scatter_step)
        cdef size_t loop_bytes = loops.shape[0] * sizeof(scatter_loop)
        cdef size_t base_bytes = columns * sizeof(char *), stride_bytes = columns * ndim * sizeof(int64_t)
        cdef size_t shape_bytes = ndim * sizeof(int64_t), temp_bytes = temps.shape[0] * sizeof(int64_t)
        cdef Py_buffer view
        cdef char *at
        if self.memory != NULL:
            raise ValueError("a Run is bound once")
        if strides.shape[0] != columns or (columns and strides.shape[1] != ndim) or loops.shape[1] != 3 or ndim < 1:
            raise ValueError("strides must have a row for each column and an entry for each dimension")
        self.memory = malloc(step_bytes + loop_bytes + base_bytes + stride_bytes + shape_bytes + temp_bytes + 8)
        self.extents = <uintptr_t *>malloc(2 * len(views) * sizeof(uintptr_t) + 8)
        if self.memory == NULL or self.extents == NULL:
            raise MemoryError
        at = <char *>self.memory
        self.plan.steps = <const scatter_step *>at
        if step_bytes:
            memcpy(at, &steps[0], step_bytes)
        at += step_bytes
        self.plan.loops = <const scatter_loop *>at
        if loop_bytes:
            memcpy(at, &loops[0, 0], loop_bytes)
        at += loop_bytes
        self.plan.bases = <char **>at
        for k in range(columns):
            PyObject_GetBuffer(arrays[k], &view, PyBUF_STRIDES)
            self.plan.bases[k] = <char *>view.buf
            PyBuffer_Release(&view)
        # Members of one structured array share a column, but each has its own reach.
        for k in range(<int>len(views)):
            PyObject_GetBuffer(views[k], &view, PyBUF_STRIDES | (PyBUF_WRITABLE if writable else 0))
            extent(&view, &self.extents[2 * k])
            PyBuffer_Release(&view)
        self.reach = len(views)
        at += base_bytes
        self.plan.strides = <const int64_t *>at
        if stride_bytes:
            memcpy(at, &strides[0, 0], stride_bytes)
        at += stride_bytes
        self.plan.shape = <const int64_t *>at
        memcpy(at, &shape[0], shape_bytes)
        at += shape_bytes
        self.plan.temps = <const int64_t *>at
        if temp_bytes:
            memcpy(at, &temps[0], temp_bytes)
        self.plan.step_count = steps.shape[0]
        self.plan.columns = columns
        self.plan.ndim = ndim
        self.plan.temp_count = temps.shape[0]
        self.plan.size = self.size = size
        self.records = 1
        for k in range(ndim):
            self.records *= shape[k]
        self.arrays = arrays, views

    def __dealloc__(self):
        free(self.memory)
        free(self.extents)

    cdef bint touches(self, const char *memory, int64_t length) noexcept:
        cdef int k
        cdef uintptr_t low = <uintptr_t>memory
        for k in range(self.reach):
            if self.extents[2 * k] < low + length and low < self.extents[2 * k + 1]:
                return True
        return False

    def overlaps(self, data, int64_t offset, int64_t length):
        """Whether bytes [offset, offset + length) of `data`, a buffer, lie over a column."""
        cdef Py_buffer view
        cdef bint found
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        found = self.touches(<char *>view.buf + offset, length)
        PyBuffer_Release(&view)
        return found

    def scatter(self, out, int64_t offset, int64_t stride, int64_t start, int64_t stop, int mode, int workers=1):
        """Pack records [start, stop) into `out`, record `start` at byte `offset`; (record, leaf) of a fault.

        `workers` threads share the records, this one included.

        The record is -1 when all went well, and OVERLAP when nothing was done because `out` lies over a
        column. `out` is a writable contiguous buffer of any kind.
        """
        cdef scatter_status status
        if mode == 2:
            self.check_range(start, stop)
            with nogil:
                status = share(&self.plan, NULL, stride, start, stop, mode, True, workers)
            return status.record, status.leaf
        return self.run_over(out, PyBUF_SIMPLE | PyBUF_WRITABLE, offset, stride, start, stop, mode, True, workers)

    def scatter_all(self, out, int64_t stride):
        """Pack all records from the first byte of `out` on, plainly; whether that was done.

        The short way for what is small and as it should be: `out` is writable bytes in one row, with room for
        the records and over none of their columns. False for anything else, and for a value that does not
        fit: the long way finds out, and says, what it is.
        """
        cdef Py_buffer view
        cdef scatter_status status
        cdef bint possible
        status.record = 0
        try:
            PyObject_GetBuffer(out, &view, PyBUF_CONTIG | PyBUF_FORMAT)
        except (BufferError, TypeError, ValueError):
            return False
        possible = view.ndim == 1 and view.format != NULL and view.format[0] == c"B" and view.format[1] == 0
        possible = possible and stride >= self.size and view.len >= stride * self.records
        if possible and not self.touches(<char *>view.buf, stride * self.records):
            with nogil:
                status = run_records(&self.plan, <char *>view.buf, stride, 0, self.records, PLAIN_MODE, True)
        PyBuffer_Release(&view)
        return status.record == -1

    def gather(self, data, int64_t offset, int64_t stride, int64_t start, int64_t stop, int mode=0, int workers=1):
        """Unpack records [start, stop) from `data`, record `start` at byte `offset`; (record, leaf) of a fault."""
        return self.run_over(data, PyBUF_SIMPLE, offset, stride, start, stop, mode, False, workers)

    cdef tuple run_over(self, records, int flags, int64_t offset, int64_t stride, int64_t start, int64_t stop, int mode,
                        bint forward, int workers):
        cdef Py_buffer view
        cdef scatter_status status
        PyObject_GetBuffer(records, &view, flags)
        try:
            self.check_range(start, stop)
            self.check_bounds(view.len, offset, stride, stop - start)
            if self.touches(<char *>view.buf + offset, stride * (stop - start)):
                return OVERLAP, 0
            with nogil:
                status = share(&self.plan, <char *>view.buf + offset, stride, start, stop, mode, forward, workers)
        finally:
            PyBuffer_Release(&view)
        return status.record, status.leaf

    cdef int check_range(self, int64_t start, int64_t stop) except -1:
        if start < 0 or stop < start or stop > self.records:
            raise ValueError(f"records [{start}, {stop}) must lie in [0, {self.records})")
        return 0

    cdef int check_bounds(self, int64_t length, int64_t offset, int64_t stride, int64_t count) except -1:
        if count == 0:
            return 0
        if offset < 0 or stride < self.size or offset > length or count > (length - offset - self.size) // stride + 1 \
                or length - offset < self.size:
            raise ValueError(
                f"{count} records of {self.size} bytes, {stride} apart from {offset}, must lie in {length} bytes"
            )
        return 0


def zero(out, int64_t offset, int64_t stride, int64_t size, int64_t count):
    """Set `count` records of `size` bytes, `stride` apart from `offset`, to zero."""
    cdef Py_buffer view
    cdef int64_t k
    PyObject_GetBuffer(out, &view, PyBUF_SIMPLE | PyBUF_WRITABLE)
    try:
        if count and (offset < 0 or stride < 0 or size < 0 or offset + (count - 1) * stride + size > view.len):
            raise ValueError("the records must lie in out")
        with nogil:
            for k in range(count):
                memset(<char *>view.buf + offset + k * stride, 0, size)
    finally:
        PyBuffer_Release(&view)


include "_members.pxi"
include "_objects.pxi"
include "_views.pxi"
