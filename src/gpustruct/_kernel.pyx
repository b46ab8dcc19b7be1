# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""Runs a plan, forward (scatter) and back (gather), without the GIL. See csrc/scatter.h."""

import os

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.buffer cimport (
    PyBUF_SIMPLE, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cnp.import_array()

OVERLAP = -2

cdef extern from *:
    """
    #define FIELD(member, format) {#member, format, offsetof(scatter_step, member)}
    static const struct step_field {
        const char *name, *format;
        size_t offset;
    } step_fields[] = {
        FIELD(kind, "i4"), FIELD(leaf, "i4"), FIELD(column, "4i4"), FIELD(column_offset, "4i8"),
        FIELD(record_offset, "i8"), FIELD(slot.shape, "i4"), FIELD(copy.bytes, "i8"), FIELD(zero.bytes, "i8"),
        FIELD(transpose.count, "i8"), FIELD(transpose.column_step, "i8"), FIELD(transpose.record_step, "i8"),
        FIELD(transpose.row_step, "i8"), FIELD(transpose.rows, "i4"), FIELD(transpose.cols, "i4"),
        FIELD(convert.count, "i8"), FIELD(convert.step, "i8"), FIELD(convert.from_type, "i4"),
        FIELD(convert.to_type, "i4"), FIELD(convert.swap, "i4"), FIELD(convert.loop_first, "i4"),
        FIELD(convert.loop_count, "i4"),
        FIELD(mask.bytes, "i8"), FIELD(mask.readable, "i8"), FIELD(mask.keep, "3u8"),
    };
    enum { STEP_FIELDS = sizeof step_fields / sizeof *step_fields };
    """
    struct step_field:
        const char *name
        const char *format
        size_t offset
    const step_field *step_fields
    int STEP_FIELDS

# scatter_step as a dtype, with the field names of C. The fields of the union overlap.
cdef int field
STEP = np.dtype({
    "names": [step_fields[field].name.decode() for field in range(STEP_FIELDS)],
    "formats": [step_fields[field].format.decode() for field in range(STEP_FIELDS)],
    "offsets": [step_fields[field].offset for field in range(STEP_FIELDS)],
    "itemsize": sizeof(scatter_step),
})
# By numpy's kind and item size, or, for scalars of vertex data, by the names that their formats start with in WebGPU.
TYPE_CODES = {scatter_type_name[field].decode(): field for field in range(TYPE_COUNT)}
TYPE_CODES |= {"uint8": TYPE_U8, "sint8": TYPE_I8, "uint16": TYPE_U16, "sint16": TYPE_I16}
# Bytes of a scalar, by its code.
TYPE_SIZES = tuple([scatter_type_size[field] for field in range(TYPE_COUNT)])

cdef enum:
    # About a microsecond of work; releasing the GIL and taking it again costs a tenth of that.
    KEEP_GIL_BYTES = 16384

if not pool_init():
    raise MemoryError
cdef const scatter_isa *chosen = scatter_isa_at(0)


cdef scatter_convert conversion(int from_type, int to_type) noexcept nogil:
    return scatter_conversion(chosen, from_type, to_type)


cdef int type_size(int code) noexcept nogil:
    return scatter_type_size[code]


def forget_helpers():
    """For a forked child: it has this module's memory, but none of its threads."""
    pool_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_helpers)


def isas():
    """The names of the instruction sets that this machine runs, best first."""
    names, index = [], 0
    while scatter_isa_at(index) != NULL:
        names.append(scatter_isa_name(scatter_isa_at(index)).decode())
        index += 1
    return tuple(names)


def isa():
    """The name of the instruction set in use."""
    return scatter_isa_name(chosen).decode()


def use_isa(str name):
    """Use another instruction set from now on; returns the previous one."""
    global chosen
    before, index = isa(), 0
    while scatter_isa_at(index) != NULL:
        if scatter_isa_name(scatter_isa_at(index)).decode() == name:
            chosen = scatter_isa_at(index)
            return before
        index += 1
    raise ValueError(f"this machine runs {', '.join(isas())} (current: {name}) - at use_isa(...); pick one of them")


cdef void extent(Py_buffer *view, uintptr_t *low_high) noexcept:
    """The address of an array's first byte, and the one after its last; both the same if it is empty."""
    cdef int d
    low_high[0] = low_high[1] = <uintptr_t>view.buf
    for d in range(view.ndim):
        if view.shape[d] == 0:
            return
    for d in range(view.ndim):
        low_high[0 if view.strides[d] < 0 else 1] += view.strides[d] * (view.shape[d] - 1)
    low_high[1] += view.itemsize


cdef const int64_t *integers(cnp.ndarray array, int ndim) except NULL:
    """The values of a contiguous array of int64. A typed memoryview would add 50 kB of code to the module."""
    if (
        array is None or cnp.PyArray_NDIM(array) != ndim or cnp.PyArray_TYPE(array) != cnp.NPY_INT64
        or not cnp.PyArray_ISCARRAY_RO(array)
    ):
        raise ValueError(f"expected a contiguous int64 array of {ndim} dimensions")
    return <const int64_t *>cnp.PyArray_DATA(array)


cdef class Plan:
    """The steps that pack or unpack records of one kind. Any number of runs share it."""

    def __cinit__(self):
        self.memory = NULL
        self.kind = b""

    def __init__(self, cnp.ndarray steps not None, cnp.ndarray loops, cnp.ndarray temps, int64_t size):
        cdef const int64_t *loop_data = integers(loops, 2)
        cdef const int64_t *temp_data = integers(temps, 1)
        cdef size_t step_bytes = cnp.PyArray_NBYTES(steps)
        cdef size_t loop_bytes = cnp.PyArray_NBYTES(loops)
        cdef size_t temp_bytes = cnp.PyArray_NBYTES(temps)
        cdef char *at
        if self.memory != NULL:
            raise ValueError("a Plan is made once")
        if steps.dtype != STEP or steps.ndim != 1 or not cnp.PyArray_ISCARRAY_RO(steps) or loops.shape[1] != 3:
            raise ValueError("steps must be an array of STEP, and a loop has a count and two steps")
        self.memory = malloc(step_bytes + loop_bytes + temp_bytes + 8)
        if self.memory == NULL:
            raise MemoryError
        at = <char *>self.memory
        memset(&self.plan, 0, sizeof(scatter_plan))
        self.plan.steps = <const scatter_step *>at
        if step_bytes:
            memcpy(at, cnp.PyArray_DATA(steps), step_bytes)
        at += step_bytes
        self.plan.loops = <const scatter_loop *>at
        if loop_bytes:
            memcpy(at, loop_data, loop_bytes)
        at += loop_bytes
        self.plan.temps = <const int64_t *>at
        if temp_bytes:
            memcpy(at, temp_data, temp_bytes)
        self.plan.step_count, self.plan.temp_count, self.plan.size = len(steps), temps.shape[0], size

    def __dealloc__(self):
        free(self.memory)


# It refers to arrays and a plan, none of which refers to it.
@cython.no_gc
cdef class Run:
    """A plan bound to columns: all that packing or unpacking them needs, any number of times.

    Keeps references to the arrays whose memory it reads or writes. `records` is their number, `size` the bytes of one.
    """

    def __cinit__(self):
        self.memory = NULL
        self.records = self.size = 0
        memset(&self.plan, 0, sizeof(scatter_plan))

    def __init__(self, Plan plan not None, list arrays, tuple views, cnp.ndarray strides, cnp.ndarray shape,
                 bint writable):
        cdef const int64_t *stride_data = integers(strides, 2)
        cdef const int64_t *shape_data = integers(shape, 1)
        cdef int columns = len(arrays), ndim = shape.shape[0], k
        cdef Py_buffer view
        if self.memory != NULL:
            raise ValueError("a Run is bound once")
        if strides.shape[0] != columns or (columns and strides.shape[1] != ndim) or ndim < 1:
            raise ValueError("strides must have a row for each column and an entry for each dimension")
        bind_run(self, plan, columns, len(views), ndim, shape_data, (arrays, views))
        for k in range(columns):
            PyObject_GetBuffer(arrays[k], &view, PyBUF_STRIDES)
            self.plan.bases[k] = <char *>view.buf
            PyBuffer_Release(&view)
        # Members of one structured array share a column, but each has its own extent.
        for k in range(<int>len(views)):
            PyObject_GetBuffer(views[k], &view, PyBUF_STRIDES | (PyBUF_WRITABLE if writable else 0))
            extent(&view, &self.extents[2 * k])
            PyBuffer_Release(&view)
        if columns:
            memcpy(self.strides, stride_data, columns * ndim * sizeof(int64_t))

    def __dealloc__(self):
        free(self.memory)

    @property
    def columns(self):
        """The number of columns; members of one structured array share one."""
        return self.plan.columns

    cdef bint touches(self, const char *memory, int64_t length) noexcept:
        cdef int k
        cdef uintptr_t low = <uintptr_t>memory
        for k in range(self.extent_count):
            if self.extents[2 * k] < low + length and low < self.extents[2 * k + 1]:
                return True
        return False

    def overlaps(self, data, int64_t offset, int64_t length):
        """Whether bytes [offset, offset + length) of `data`, a buffer, overlap a column."""
        cdef Py_buffer view
        cdef bint found
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        found = self.touches(<char *>view.buf + offset, length)
        PyBuffer_Release(&view)
        return found

    def scatter(self, out, int64_t offset, int64_t stride, int64_t start, int64_t stop, int mode, int workers=1):
        """Pack records [start, stop) to `out`, a writable contiguous buffer, record `start` at byte `offset`.

        Returns the (record, leaf) of the first value that does not fit. The record is -1 if all fit, and OVERLAP if
        nothing was done because `out` overlaps a column. `workers` threads share the records, this one included.
        """
        cdef scatter_status status
        if mode == MODE_CHECK:
            self.check_range(start, stop)
            with nogil:
                status = pool_scatter(chosen, &self.plan, NULL, stride, start, stop, mode, workers)
            return status.record, status.leaf
        return self.run_over(out, PyBUF_SIMPLE | PyBUF_WRITABLE, offset, stride, start, stop, mode, True, workers)

    cdef bint scatter_plainly(self, char *to, int64_t stride, int64_t room) noexcept:
        """Pack all records to an address with room for `room` bytes; returns whether that was done."""
        cdef scatter_status status
        if stride < self.size or self.records > room // stride or self.touches(to, stride * self.records):
            return False
        if stride * self.records <= KEEP_GIL_BYTES:
            status = pool_scatter(chosen, &self.plan, to, stride, 0, self.records, MODE_PLAIN, 1)
        else:
            with nogil:
                status = pool_scatter(chosen, &self.plan, to, stride, 0, self.records, MODE_PLAIN, 1)
        return status.record == -1

    def gather(self, data, int64_t offset, int64_t stride, int64_t start, int64_t stop, int mode=0, int workers=1):
        """Unpack records [start, stop) from `data`, record `start` at byte `offset`; returns what `scatter` does."""
        return self.run_over(data, PyBUF_SIMPLE, offset, stride, start, stop, mode, False, workers)

    cdef tuple run_over(self, records, int flags, int64_t offset, int64_t stride, int64_t start, int64_t stop, int mode,
                        bint forward, int workers):
        cdef Py_buffer view
        cdef scatter_status status
        PyObject_GetBuffer(records, &view, flags)
        try:
            self.check_range(start, stop)
            self.check_bounds(view.len, offset, stride, stop - start)
            # The bytes after the last record may be another array's: a column's, for example.
            if stop > start and self.touches(<char *>view.buf + offset, stride * (stop - start - 1) + self.size):
                return OVERLAP, 0
            with nogil:
                if forward:
                    status = pool_scatter(chosen, &self.plan, <char *>view.buf + offset, stride, start, stop, mode,
                                          workers)
                else:
                    status = pool_gather(chosen, &self.plan, <char *>view.buf + offset, stride, start, stop, mode,
                                         workers)
        finally:
            PyBuffer_Release(&view)
        return status.record, status.leaf

    cdef int check_range(self, int64_t start, int64_t stop) except -1:
        if start < 0 or stop < start or stop > self.records:
            raise ValueError(f"records [{start}, {stop}) must be within [0, {self.records})")
        return 0

    cdef int check_bounds(self, int64_t length, int64_t offset, int64_t stride, int64_t count) except -1:
        if count == 0:
            return 0
        if offset < 0 or stride < self.size or offset > length or count > (length - offset - self.size) // stride + 1 \
                or length - offset < self.size:
            raise ValueError(
                f"{count} records of {self.size} bytes, {stride} apart from {offset}, must fit into {length} bytes"
            )
        return 0


cdef int bind_run(Run run, Plan plan, int columns, int views, int ndim, const int64_t *shape, object keep) except -1:
    """Give a run its plan and its memory. The caller fills in addresses, strides and extents."""
    cdef char *at
    cdef int k
    run.memory = malloc(columns * sizeof(char *) + (columns + 1) * ndim * sizeof(int64_t)
                        + 2 * views * sizeof(uintptr_t) + 8)
    if run.memory == NULL:
        raise MemoryError
    at = <char *>run.memory
    run.plan = plan.plan
    run.plan.bases = <char **>at
    at += columns * sizeof(char *)
    run.plan.strides = run.strides = <int64_t *>at
    at += columns * ndim * sizeof(int64_t)
    run.plan.shape = <int64_t *>at
    memcpy(at, shape, ndim * sizeof(int64_t))
    run.extents = <uintptr_t *>(at + ndim * sizeof(int64_t))
    run.extent_count = views
    run.plan.columns, run.plan.ndim = columns, ndim
    run.size = plan.plan.size
    run.records = 1
    for k in range(ndim):
        run.records *= shape[k]
    run.shared, run.keep = plan, keep
    return 0


def zero(out, int64_t offset, int64_t stride, int64_t size, int64_t count):
    """Set `count` records of `size` bytes, `stride` apart from `offset`, to zero."""
    cdef Py_buffer view
    cdef int64_t k
    PyObject_GetBuffer(out, &view, PyBUF_SIMPLE | PyBUF_WRITABLE)
    try:
        if count and (offset < 0 or stride < 0 or size < 0 or offset + (count - 1) * stride + size > view.len):
            raise ValueError("the records must fit into out")
        with nogil:
            for k in range(count):
                memset(<char *>view.buf + offset + k * stride, 0, size)
    finally:
        PyBuffer_Release(&view)
