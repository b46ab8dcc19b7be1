# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""Records as batches: lists of Python objects are written into records; packed records and structured arrays are seen
as columns. What writes one struct is in `_structs`.
"""

from ._batches import is_padding
from .zero_filled import zero_filled

cimport cython
cimport numpy as cnp
from cpython.buffer cimport PyBUF_FULL_RO, PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_New, PyTuple_SET_ITEM
from numpy cimport npy_intp

from ._batches cimport BatchBase, MemberColumn, MemberTable, MOST_INNER, MOST_LEADING, RecordFields, table_of
from ._locks cimport FREE_THREADED, item_at, lock_object, object_lock, unlock_object
from ._numbers cimport IndexPath, index_of, is_list, is_tuple, items_of, length_of, Writer

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_CheckExact(object value)
    # These take over the reference to the dtype.
    object PyArray_NewFromDescr(PyTypeObject *cls, cnp.dtype kind, int ndim, npy_intp *shape, npy_intp *strides,
                                void *data, int flags, PyObject *maker)
    object PyArray_Empty(int ndim, npy_intp *shape, cnp.dtype kind, int fortran)

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


cdef bint write_records(Writer writer, list values, Py_ssize_t count, char *at, Py_ssize_t stride) except -1:
    """Write `count` values, each to its record, in zeroed memory.

    False, with nothing written, if the list has another length.
    """
    cdef Py_ssize_t k = 0
    cdef IndexPath path
    path.outer = NULL
    if not FREE_THREADED and len(values) == count:
        k = write_plain_records(writer, items_of(<PyObject *>values), 0, count, at, stride)
        if k == count:
            return True
        # From here on, the records' own code or another thread may change the list. Nothing changes a copy.
        values = list(values)
    if len(values) != count:
        return False
    while True:
        k = write_plain_records(writer, items_of(<PyObject *>values), k, count, at, stride)
        if k == count:
            return True
        path.index = k
        writer.write(at + k * stride, values[k], &path)
        k += 1


def read_records(Writer writer not None, cls, list values not None, Py_ssize_t stride):
    """The values as a batch of `cls`: views of their records, `stride` bytes apart in new memory.

    The bytes of the records if they cannot be seen as columns. The list is read as it is when this is called: a change
    meanwhile has no effect.
    """
    cdef cnp.npy_intp nbytes
    cdef cnp.ndarray data
    if stride <= 0 or stride != cls.__layout__.record_stride:
        raise ValueError("a record has its type's stride")
    if FREE_THREADED:
        values = list(values)
    while True:
        nbytes = len(values) * stride
        data = cnp.PyArray_ZEROS(1, &nbytes, cnp.NPY_UINT8, 0)
        if write_records(writer, values, nbytes // stride, <char *>cnp.PyArray_DATA(data), stride):
            break
        # Other threads run while numpy allocates, and one changed the list.
        values = list(values)
    batch = unpack_views(cls, data, 0, nbytes // stride, stride)
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


cdef RecordFields find_fields(MemberTable table, object kind):
    """Find the members in a structured dtype; None unless other fields are padding, and each member fits."""
    cdef int k
    cdef RecordFields kept
    # Read in Python: the C field may be NULL if there are none.
    names, fields = kind.names, kind.fields
    if fields is None or any(name not in fields for name in table.names):
        return None
    if len(fields) != table.count:
        for name, field in fields.items():
            if name not in table.names and not is_padding(field[0]):
                return None
    found = []
    for k, name in enumerate(table.names):
        field, offset = fields[name][0], fields[name][1]
        base, shape = field.subdtype or (field, ())
        if table.members[k].is_struct or base.fields is not None or base.subdtype is not None:
            return None
        if not 0 <= base.num <= 63 or not (table.members[k].accepted >> <int>base.num) & 1:
            return None
        if tuple(shape) != tuple([table.members[k].shape[d] for d in range(table.members[k].ndim)]):
            return None
        found.append((base, offset))
    # Only the names of a numpy dtype can change, and then they are another tuple.
    kept = RecordFields.__new__(RecordFields)
    kept.dtype, kept.names, kept.members = kind, names, tuple(found)
    with cython.critical_section(table):
        table.fields = kept
    return kept


def from_structured(cls, cnp.ndarray source not None):
    """A batch of views of a structured array's fields, or None if they are not exactly the type's members."""
    cdef MemberTable table
    cdef BatchBase batch
    cdef cnp.dtype kind
    cdef npy_intp shape[MOST_INNER + MOST_LEADING]
    cdef npy_intp strides[MOST_INNER + MOST_LEADING]
    cdef npy_intp offset, step
    cdef int k, d, total, ndim = cnp.PyArray_NDIM(source)
    cdef int flags = cnp.NPY_ARRAY_WRITEABLE if cnp.PyArray_ISWRITEABLE(source) else 0
    cdef tuple field, columns
    cdef MemberColumn *member
    cdef RecordFields fields
    if not isinstance(cls, type) or not issubclass(cls, BatchBase):
        return None
    table = table_of(cls)
    if table is None or ndim > MOST_LEADING or not cnp.PyArray_SIZE(source):
        return None
    kind = <cnp.dtype><object>cnp.PyArray_DESCR(source)
    with cython.critical_section(table):
        fields = table.fields
    if fields is None or fields.dtype is not kind or kind.names is not fields.names:
        fields = find_fields(table, kind)
        if fields is None:
            return None
    for d in range(ndim):
        shape[d], strides[d] = cnp.PyArray_DIM(source, d), cnp.PyArray_STRIDE(source, d)
    columns = PyTuple_New(table.count)
    for k in range(table.count):
        field, member = <tuple>PyTuple_GET_ITEM(fields.members, k), &table.members[k]
        kind, offset = <cnp.dtype>PyTuple_GET_ITEM(field, 0), <object>PyTuple_GET_ITEM(field, 1)
        total = ndim + member.ndim
        step = cnp.PyDataType_ELSIZE(kind)
        for d in range(member.ndim - 1, -1, -1):
            shape[ndim + d], strides[ndim + d] = member.shape[d], step
            step *= member.shape[d]
        Py_INCREF(kind)
        column = PyArray_NewFromDescr(<PyTypeObject *>cnp.ndarray, kind, total, shape, strides,
                                      <char *>cnp.PyArray_DATA(source) + offset, flags, NULL)
        cnp.set_array_base(column, source)
        Py_INCREF(column)
        PyTuple_SET_ITEM(columns, k, column)
    batch = cls.__new__(cls)
    batch.table, batch.__columns__ = table, columns
    batch.__shape__ = tuple([shape[d] for d in range(ndim)]) if ndim != 1 else (shape[0],)
    return batch


def items_of_memory(memory, cnp.dtype kind not None):
    """The items of a memoryview as an array of `kind`, with any strides; nothing is copied.

    numpy does this where it can read the memory's format. Raises ValueError for items of another size.
    """
    cdef Py_buffer view
    # The array keeps this memoryview, which nobody else can release.
    held = memoryview(memory)
    PyObject_GetBuffer(held, &view, PyBUF_FULL_RO)
    try:
        if view.itemsize != kind.itemsize or view.suboffsets != NULL or kind.subdtype or kind.hasobject:
            raise ValueError("the memory has other items")
        Py_INCREF(kind)
        array = PyArray_NewFromDescr(<PyTypeObject *>cnp.ndarray, kind, view.ndim, <npy_intp *>view.shape,
                                     <npy_intp *>view.strides, view.buf,
                                     0 if view.readonly else cnp.NPY_ARRAY_WRITEABLE, NULL)
    finally:
        PyBuffer_Release(&view)
    cnp.set_array_base(array, held)
    return array


cdef BatchBase views_over(MemberTable table, cnp.ndarray data, char *at, int ndim, npy_intp *shape, npy_intp *strides,
                          tuple batch_shape):
    """A batch of views of packed records. `shape` and `strides` have room for the members' dimensions."""
    cdef BatchBase batch = table.cls.__new__(table.cls)
    cdef tuple columns = PyTuple_New(table.count)
    cdef int k, d, total, flags = cnp.NPY_ARRAY_WRITEABLE if cnp.PyArray_ISWRITEABLE(data) else 0
    cdef MemberColumn *member
    cdef bint empty = False
    cdef cnp.dtype kind
    for d in range(ndim):
        empty = empty or shape[d] == 0
    for k in range(table.count):
        member = &table.members[k]
        total = ndim + member.ndim
        for d in range(member.ndim):
            shape[ndim + d], strides[ndim + d] = member.shape[d], member.strides[d]
        if member.is_struct:
            nested = table_of(<object>PyTuple_GET_ITEM(table.classes, k))
            inner = batch_shape if not member.ndim else tuple([shape[d] for d in range(total)])
            column = views_over(nested, data, at + member.offset, total, shape, strides, inner)
        else:
            kind = <cnp.dtype>PyTuple_GET_ITEM(table.dtypes, k)
            Py_INCREF(kind)
            if empty:
                column = PyArray_Empty(total, shape, kind, 0)
            else:
                column = PyArray_NewFromDescr(<PyTypeObject *>cnp.ndarray, kind, total, shape, strides,
                                              at + member.offset, flags, NULL)
                cnp.set_array_base(column, data)
        Py_INCREF(column)
        PyTuple_SET_ITEM(columns, k, column)
    batch.table, batch.__columns__, batch.__shape__ = table, columns, batch_shape
    return batch


def unpack_views(cls, cnp.ndarray data not None, Py_ssize_t offset, Py_ssize_t count, Py_ssize_t stride):
    """`count` records in an array of bytes as a batch of views, or None if Python makes the type's batches.

    The caller checks that the records are inside the array. None too for types with a member that no dtype sees.
    """
    cdef MemberTable table = table_of(cls)
    cdef npy_intp shape[MOST_INNER + MOST_LEADING]
    cdef npy_intp strides[MOST_INNER + MOST_LEADING]
    if table is None or not table.has_views:
        return None
    shape[0], strides[0] = count, stride
    return views_over(table, data, <char *>cnp.PyArray_DATA(data) + offset, 1, shape, strides, (count,))


def unpack_all(cls, data):
    """All records in an array of bytes, or in bytes, as a batch of views, or None if anything is unusual."""
    cdef cnp.ndarray memory
    cdef MemberTable table
    if not isinstance(cls, type) or not issubclass(cls, BatchBase):
        return None
    table = table_of(cls)
    if table is None or not table.has_views:
        return None
    if type(data) is bytes or type(data) is bytearray:
        data = cnp.PyArray_FROM_OTF(memoryview(data), cnp.NPY_UINT8, 0) if len(data) else None
    if not PyArray_CheckExact(data):
        return None
    memory = data
    if (cnp.PyArray_TYPE(memory) != cnp.NPY_UINT8 or cnp.PyArray_NDIM(memory) != 1
            or not cnp.PyArray_IS_C_CONTIGUOUS(memory) or cnp.PyArray_DIM(memory, 0) % table.stride):
        return None
    return unpack_views(cls, memory, 0, cnp.PyArray_DIM(memory, 0) // table.stride, table.stride)
