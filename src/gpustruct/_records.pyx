# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""Lists of Python objects into records, and arrays inside them. What writes one struct is in `_structs`."""

from ._batches import unpack_views
from .zero_filled import zero_filled

cimport numpy as cnp
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject

from cpython.ref cimport Py_DECREF

from ._locks cimport FREE_THREADED, item_at, lock_object, object_lock, unlock_object
from ._numbers cimport IndexPath, index_of, is_list, is_tuple, items_of, length_of, Writer

cnp.import_array()

cdef extern from "_values.h":
    void prefetch(const void *memory) noexcept

cdef enum:
    AHEAD = 8     # records that are prefetched before they are read,
    MANY = 32768  # in a list too long for the caches


cdef class ArrayWriter(Writer):
    """`count` elements, `stride` bytes apart, each written by `inner`. `refuse(index, value)` raises for more or
    fewer.

    A `zero_filled` value may have fewer: the memory is zero already.
    """

    cdef Py_ssize_t count, stride
    cdef Writer inner
    cdef object refuse

    def __init__(self, Py_ssize_t count, Py_ssize_t stride, Writer inner not None, refuse):
        self.count, self.stride, self.inner, self.refuse = count, stride, inner, refuse

    cdef int write(self, char *at, object value, const IndexPath *path) except -1:
        cdef Py_ssize_t k, count = self.count
        cdef PyObject *item
        cdef IndexPath inside
        inside.outer = path
        given = value
        if type(value) is zero_filled:
            value = list(value.values)
            count = min(count, <Py_ssize_t>len(value))
        if type(value) is not tuple and type(value) is not list:
            try:
                items = iter(() if isinstance(value, (str, bytes, dict)) else value)
            except TypeError:
                items = None
            if items is None or isinstance(value, (str, bytes, dict)):
                return self.refused(given, path)
            value = list(items)
        if length_of(<PyObject *>value) != count:
            return self.refused(given, path)
        for k in range(count):
            item = item_at(<PyObject *>value, k)
            if item == NULL:
                return self.refused(given, path)
            element = <object>item
            Py_DECREF(element)
            if self.inner.write_plain(at + k * self.stride, <PyObject *>element):
                inside.index = k
                self.inner.write(at + k * self.stride, element, &inside)
        return 0

    cdef int refused(self, object value, const IndexPath *path) except -1:
        self.refuse(index_of(path), value)
        raise TypeError("refuse must raise")

    cdef int write_plain(self, char *at, PyObject *value) noexcept:
        cdef object_lock lock
        cdef int fault
        if not (is_tuple(value) or is_list(value)):
            return 1
        lock_object(&lock, value)
        fault = self.write_locked(at, value)
        unlock_object(&lock)
        return fault

    cdef int write_locked(self, char *at, PyObject *values) noexcept:
        cdef Py_ssize_t k
        if length_of(values) != self.count:
            return 1
        for k in range(self.count):
            if FREE_THREADED and length_of(values) != self.count:
                return 1
            if self.inner.write_plain(at + k * self.stride, items_of(values)[k]):
                return 1
        return 0


cdef Py_ssize_t write_plain_records(Writer writer, PyObject **records, Py_ssize_t first, Py_ssize_t count, char *at,
                                    Py_ssize_t stride) noexcept:
    """Write records from `first` on; returns the first one that `write_plain` cannot write, or `count`."""
    cdef Py_ssize_t k
    for k in range(first, count):
        if count > MANY and k + 2 * AHEAD < count:
            prefetch(records[k + 2 * AHEAD])
            writer.prefetch_members(records[k + AHEAD])
        if writer.write_plain(at + k * stride, records[k]):
            return k
    return count


cdef int write_records(Writer writer, list values, Py_ssize_t count, char *at, Py_ssize_t stride) except -1:
    """Write `count` values, each to its record. The memory is zero."""
    cdef Py_ssize_t k = 0
    cdef IndexPath path
    path.outer = NULL
    while True:
        if len(values) != count:
            raise RuntimeError("the list of records changed its length while it was read")
        k = write_plain_records(writer, items_of(<PyObject *>values), k, count, at, stride)
        if k == count:
            return 0
        path.index = k
        writer.write(at + k * stride, values[k], &path)
        k += 1


def read_records(Writer writer not None, cls, list values not None, Py_ssize_t stride):
    """The values as a batch of `cls`: views of their records, `stride` bytes apart in new memory.

    The bytes of the records if they cannot be seen as columns.
    """
    cdef cnp.npy_intp nbytes
    cdef Py_ssize_t count
    if FREE_THREADED:
        values = list(values)  # Another thread cannot change the copy.
    count = len(values)
    if stride <= 0 or stride != cls.__layout__.record_stride:
        raise ValueError("a record has its type's stride")
    nbytes = count * stride
    cdef cnp.ndarray data = cnp.PyArray_ZEROS(1, &nbytes, cnp.NPY_UINT8, 0)
    write_records(writer, values, count, <char *>cnp.PyArray_DATA(data), stride)
    batch = unpack_views(cls, data, 0, count, stride)
    return data if batch is None else batch


def write_value(Writer writer not None, value, out, Py_ssize_t size):
    """Write one value into the first `size` bytes of `out`, which must be zero."""
    cdef Py_buffer view
    PyObject_GetBuffer(out, &view, PyBUF_SIMPLE | PyBUF_WRITABLE)
    try:
        if size != view.len:
            raise ValueError("out must have the size of the value")
        writer.write(<char *>view.buf, value, NULL)
    finally:
        PyBuffer_Release(&view)
