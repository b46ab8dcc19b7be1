# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Makes batches: checks all columns in one pass, and stores them.

The usual column is an exact numpy array whose dtype and shape fit. For any other, Python (`Batch.__hold__`) converts it
or raises.
"""

cimport cython
cimport numpy as cnp
from cpython.dict cimport PyDict_Size
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM

from ._locks cimport dict_item

cnp.import_array()


cdef extern from "numpy/arrayobject.h":
    bint PyArray_CheckExact(object value)
    object PyArray_View(cnp.ndarray array, PyObject *dtype, PyObject *kind)


cdef class MemberTable:
    """What the columns of a type must be, member by member.

    Each of `members` is (name, class, accepted, shape, strides, offset, dtype): the class of a struct member, or None;
    the numbers of the numpy types that its scalar accepts; the dimensions after the batch's, and their strides in a
    packed record; the member's offset there; the dtype of its scalars, None where no dtype sees them as `unpack` gives
    them. `specs` are for Python, which checks unusual columns. `stride` is the bytes from one record to the next.
    """

    def __cinit__(self):
        self.members = NULL

    def __init__(self, cls, tuple specs, tuple members, Py_ssize_t stride):
        cdef int k, d
        self.cls, self.specs, self.count, self.stride = cls, specs, len(members), stride
        self.names = tuple(member[0] for member in members)
        self.classes = tuple(member[1] for member in members)
        self.plans, self.last, self.has_views = {}, None, True
        self.members = <MemberColumn *>PyMem_Malloc((self.count + 1) * sizeof(MemberColumn))
        if self.members == NULL:
            raise MemoryError
        self.dtypes = tuple(member[6] for member in members)
        for k, (_, kind, accepted, shape, strides, offset, _) in enumerate(members):
            if len(shape) > MOST_INNER:
                raise ValueError("a type nests at most 15 deep")
            self.members[k].is_struct = kind is not None
            if kind is None:
                self.has_views = self.has_views and self.dtypes[k] is not None
            else:
                nested = table_of(kind)
                self.has_views = self.has_views and nested is not None and (<MemberTable>nested).has_views
            self.members[k].ndim = len(shape)
            self.members[k].accepted = 0
            for number in accepted:
                self.members[k].accepted |= (<unsigned long long>1) << <int>number
            for d in range(len(shape)):
                self.members[k].shape[d], self.members[k].strides[d] = shape[d], strides[d]
            self.members[k].offset = offset

    def __dealloc__(self):
        PyMem_Free(self.members)

    def __reduce__(self):
        # cloudpickle copies the attributes of a class. The copy makes a new table when it is first used.
        return _no_table, ()


def _no_table():
    return None


cdef MemberTable table_of(object cls):
    """The table of the class, made on first use; None if Python makes its batches."""
    cdef object table = getattr(cls, "__table__", None)
    if table is not None and (<MemberTable>table).cls is cls:
        return <MemberTable>table
    return cls.__make_table__()


cdef class RecordFields:
    """Where the members are in records of a structured dtype: (dtype, offset) for each."""


# Its columns are arrays and batches that existed before it, so it cannot be part of a cycle.
@cython.no_gc
cdef class BatchBase:
    """The columns of a batch by reference, its shape, and its plans."""

    def __init__(self, *values, **columns):
        cdef MemberTable table = table_of(type(self))
        if table is None or not hold(self, table, values, columns):
            self.__hold__(values, columns)

    @property
    def __run__(self):
        with cython.critical_section(self):
            return self.run

    @property
    def __pack_plan__(self):
        with cython.critical_section(self):
            return self.pack_plan

    @property
    def __unpack_plan__(self):
        with cython.critical_section(self):
            return self.unpack_plan


cdef int set_columns(BatchBase batch, MemberTable table, tuple columns, tuple shape) except -1:
    """Store the columns, once: readers need no lock for them."""
    cdef bint new
    with cython.critical_section(batch):
        new = batch.__columns__ is None
        if new:
            batch.table, batch.__columns__, batch.__shape__ = table, columns, shape
    if not new:
        raise AttributeError(f"{type(batch).__name__} keeps its columns; make a new batch")
    return 0


cdef bint hold(BatchBase batch, MemberTable table, tuple values, dict columns, bint convert=True) except -1:
    """Store the columns if each is usual and all that have a leading shape have the same; returns whether they do.

    If `convert`, a column that is not an array is converted first, as the constructor does.
    """
    cdef int k, d, leading = 0, own
    cdef bint has_leading = False
    cdef PyObject *value
    cdef npy_intp shape[MOST_LEADING]
    cdef cnp.ndarray array
    cdef tuple held
    cdef object column
    cdef MemberColumn *member
    cdef npy_intp *dims
    cdef npy_intp nested[MOST_INNER + MOST_LEADING]
    if table.count == 1 and PyTuple_GET_SIZE(values) == 1 and not columns:
        if <PyObject *>(table.names[0]) is not <PyObject *>EMPTY:
            return False
        columns = {EMPTY: values[0]}
    elif PyTuple_GET_SIZE(values) or PyDict_Size(columns) != table.count:
        return False
    held = PyTuple_New(table.count)
    for k in range(table.count):
        if not dict_item(columns, table.names[k], &value):
            return False
        column, member = <object>value, &table.members[k]
        Py_DECREF(column)
        if not member.is_struct:
            if not PyArray_CheckExact(column):
                if not convert:
                    return False
                # A view where the column has memory, else a copy: converted once.
                column = table.cls.__convert__(table.specs[k], column)
                if not PyArray_CheckExact(column):
                    return False
            # The caller may change the array's dtype or shape later: the batch keeps a view of it.
            array = column = PyArray_View(column, NULL, NULL)
            own = cnp.PyArray_NDIM(array) - member.ndim
            d = cnp.PyArray_TYPE(array)
            if own < 0 or own > MOST_LEADING or d < 0 or d > 63 or not (member.accepted >> d) & 1:
                return False
            dims = cnp.PyArray_DIMS(array)
            for d in range(member.ndim):
                if dims[own + d] != member.shape[d]:
                    return False
        else:
            if type(column) is not <object>PyTuple_GET_ITEM(table.classes, k):
                return False
            own = <int>PyTuple_GET_SIZE((<BatchBase>column).__shape__)
            if own > MOST_INNER + MOST_LEADING:
                return False
            for d in range(own):
                nested[d] = (<BatchBase>column).__shape__[d]
            own -= member.ndim
            if own < 0 or own > MOST_LEADING:
                return False
            dims = nested
            for d in range(member.ndim):
                if dims[own + d] != member.shape[d]:
                    return False
        if own:
            if not has_leading:
                has_leading, leading = True, own
                for d in range(own):
                    shape[d] = dims[d]
            else:
                if own != leading:
                    return False
                for d in range(own):
                    if shape[d] != dims[d]:
                        return False
        Py_INCREF(column)
        PyTuple_SET_ITEM(held, k, column)
    if leading == 0:
        set_columns(batch, table, held, ())
    elif leading == 1:
        set_columns(batch, table, held, (shape[0],))
    else:
        set_columns(batch, table, held, tuple([shape[d] for d in range(leading)]))
    return True


cdef str EMPTY = ""


def make(cls, tuple columns, tuple shape):
    """A batch of columns that fit: no checks, no conversions."""
    cdef BatchBase batch = cls.__new__(cls)
    batch.table = table_of(cls)
    batch.__columns__, batch.__shape__ = columns, shape
    return batch


def fill(BatchBase batch not None, tuple columns, tuple shape):
    """Set the columns and the shape that Python found, for a batch that is being made."""
    set_columns(batch, table_of(type(batch)), columns, shape)


def set_pack_plan(BatchBase batch not None, plan):
    with cython.critical_section(batch):
        batch.pack_plan = plan


def set_unpack_plan(BatchBase batch not None, plan):
    with cython.critical_section(batch):
        batch.unpack_plan = plan


def from_dict(cls, dict source):
    """A batch of a mapping's columns, or None if one of them is unusual."""
    cdef MemberTable table
    cdef BatchBase batch
    if not isinstance(cls, type) or not issubclass(cls, BatchBase):
        return None
    table = table_of(cls)
    if table is None:
        return None
    batch = cls.__new__(cls)
    return batch if hold(batch, table, (), source, False) else None


def is_padding(kind):
    """Whether a field of this dtype is bytes without a meaning, or an array of such: padding as a field."""
    while kind.subdtype is not None:
        kind = kind.base
    return kind.num == cnp.NPY_VOID and kind.names is None
