# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""Python numbers to the bytes of one member. Lists of objects and views are written with these.

A Writer writes values of one type. If a value does not fit, it writes nothing.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove

from ._kernel cimport (
    conversion, scatter_convert, type_size, TYPE_BOOL, TYPE_COUNT, TYPE_F16, TYPE_F32, TYPE_F64, TYPE_I16,
    TYPE_I32, TYPE_I64, TYPE_I8, TYPE_U16, TYPE_U32, TYPE_U64, TYPE_U8, TYPE_UNORM10_10_10_2, TYPE_UNORM8X4_BGRA,
)

from ._locks cimport lock_object, object_lock, unlock_object

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint is_array "PyArray_CheckExact"(PyObject *value)

cdef extern from "_values.h":
    char array_kind(cnp.ndarray array) noexcept
    int numpy_integer(PyObject *value, long long *n) noexcept
    int numpy_float(PyObject *value, void *bits) noexcept
    enum:
        NPY_HALF

# The numpy types of scalars that a view shows unchanged.
cdef int NUMPY_TYPE[TYPE_COUNT]
NUMPY_TYPE[TYPE_F16], NUMPY_TYPE[TYPE_F32] = NPY_HALF, cnp.NPY_FLOAT
NUMPY_TYPE[TYPE_I32], NUMPY_TYPE[TYPE_U32] = cnp.NPY_INT, cnp.NPY_UINT
NUMPY_TYPE[TYPE_I16], NUMPY_TYPE[TYPE_U16] = cnp.NPY_SHORT, cnp.NPY_USHORT
NUMPY_TYPE[TYPE_I8], NUMPY_TYPE[TYPE_U8] = cnp.NPY_BYTE, cnp.NPY_UBYTE

cdef enum:
    SMALL = 64  # so many scalars are staged on the stack


cdef int code_of(cnp.ndarray array) noexcept:
    """The kernel's code for an array's dtype, or -1."""
    cdef char kind = array_kind(array)
    cdef int size = cnp.PyArray_ITEMSIZE(array)
    if not cnp.PyArray_ISNOTSWAPPED(array):
        return -1
    if kind == c"f":
        return TYPE_F32 if size == 4 else TYPE_F64 if size == 8 else TYPE_F16 if size == 2 else -1
    if kind == c"i":
        return TYPE_I32 if size == 4 else TYPE_I64 if size == 8 else TYPE_I8 if size == 1 else TYPE_I16
    if kind == c"u":
        return TYPE_U32 if size == 4 else TYPE_U64 if size == 8 else TYPE_U8 if size == 1 else TYPE_U16
    return TYPE_BOOL if kind == c"b" else -1


cdef void copy_strided(char *dense, char *strided, const cnp.npy_intp *shape, const cnp.npy_intp *strides, int ndim,
                       int unit, bint gather) noexcept:
    """Copy scalars between dense memory and strided, in C order."""
    cdef cnp.npy_intp i, j, rows, cols
    cdef char *row
    if ndim == 0:
        memcpy(dense if gather else strided, strided if gather else dense, unit)
        return
    if ndim > 2:
        rows = unit
        for i in range(1, ndim):
            rows *= shape[i]
        for i in range(shape[0]):
            copy_strided(dense + i * rows, strided + i * strides[0], shape + 1, strides + 1, ndim - 1, unit, gather)
        return
    rows = shape[0] if ndim == 2 else 1
    cols = shape[ndim - 1]
    for i in range(rows):
        row = strided + (i * strides[0] if ndim == 2 else 0)
        # Constant sizes become single loads and stores.
        if unit == 4:
            for j in range(cols):
                memcpy(dense + 4 * j if gather else row + j * strides[ndim - 1],
                       row + j * strides[ndim - 1] if gather else dense + 4 * j, 4)
        elif unit == 8:
            for j in range(cols):
                memcpy(dense + 8 * j if gather else row + j * strides[ndim - 1],
                       row + j * strides[ndim - 1] if gather else dense + 8 * j, 8)
        else:
            for j in range(cols):
                memcpy(dense + unit * j if gather else row + j * strides[ndim - 1],
                       row + j * strides[ndim - 1] if gather else dense + unit * j, unit)
        dense += cols * unit


cdef int put_numpy_scalar(int code, char *to, PyObject *value) noexcept:
    """`put` for numpy's scalars, except float64, which is a Python float, and wider ones."""
    cdef float bits
    cdef long long n
    cdef int size
    if numpy_integer(value, &n):
        return put_integer(code, to, n)
    if code != TYPE_F32 and code != TYPE_F16:
        return 1
    size = numpy_float(value, &bits)
    if size == 0:
        return 1
    if (size == 2) == (code == TYPE_F16):
        memcpy(to, &bits, size)
        return 0
    if size == 2:
        return conversion(TYPE_F16, TYPE_F32)(to, &bits, 1) >= 0
    return conversion(TYPE_F32, TYPE_F16)(to, &bits, 1) >= 0


cdef int put_narrow(int code, char *to, long long n) noexcept:
    """`put_integer` for 8 and 16 bits. For normalized formats, Python decides whether 1 is 1.0 or 1/255."""
    cdef scatter_convert convert
    if code != TYPE_U8 and code != TYPE_I8 and code != TYPE_U16 and code != TYPE_I16:
        return 1
    convert = conversion(TYPE_I64, code)
    return convert(to, &n, 1) >= 0


cdef inline bint in_fours(int code) noexcept:
    """Whether four scalars share one integer of the record."""
    return code == TYPE_UNORM8X4_BGRA or code == TYPE_UNORM10_10_10_2


cdef tuple index_of(const IndexPath *path):
    """The indices of a value: the record's number, then those in arrays, from the outermost."""
    cdef list found = []
    while path != NULL:
        found.append(path.index)
        path = path.outer
    return tuple(found[::-1])


cdef class Writer:
    """Writes one Python value to the bytes of its type.

    `write` writes any value or raises; `path` says where in a list or an array the value is, for the error.
    `write_plain` knows exact Python and numpy types only. It runs no Python code, so it needs no references. Where it
    returns 1, it may have written some bytes, and the caller calls `write`.
    """

    cdef int write(self, char *at, object value, const IndexPath *path) except -1:
        raise TypeError("a Writer is made as a NumberWriter, a StructWriter or an ArrayWriter")

    cdef int write_plain(self, char *at, PyObject *value) noexcept:
        return 1

    cdef void prefetch_members(self, PyObject *value) noexcept:
        """Prefetch what a value refers to. The value itself should be in the cache by now."""


cdef class NumberWriter(Writer):
    """A scalar, a vector, a matrix or arrays of them: numbers with strides.

    `check(index, value)` is called for a value that is not a plain number, tuple, list or array that fits. It returns
    an array in native byte order whose shape and values fit, or raises. `index` is that of `index_of`.
    """

    def __init__(self, int code, int unit, axes, check):
        cdef Py_ssize_t step = unit
        cdef bint known = (code in (TYPE_F16, TYPE_F32, TYPE_I32, TYPE_U32, TYPE_I8, TYPE_U8, TYPE_I16, TYPE_U16)
                           or is_normalized(code)
                           or (in_fours(code) and len(axes) and tuple(axes[len(axes) - 1]) == (4, 1)))
        if not known or unit != type_size(code) or len(axes) > MOST_AXES:
            raise ValueError(f"{len(axes)} axes of scalar type {code} cannot be written")
        self.code, self.unit, self.ndim, self.check, self.count, self.dense = code, unit, len(axes), check, 1, True
        for k in range(self.ndim - 1, -1, -1):
            self.shape[k], self.strides[k] = axes[k]
            if self.strides[k] != step:
                self.dense = False
            step *= self.shape[k]
            self.count *= self.shape[k]
        self.floats = self.dense and code == TYPE_F32 and self.ndim == 1 and self.count <= 4

    cdef int write(self, char *at, object value, const IndexPath *path) except -1:
        cdef PyObject *plain = <PyObject *>value
        cdef int fault = 1
        if self.ndim == 0:
            if not put(self.code, at, plain):
                return 0
        elif is_tuple(plain) or is_list(plain):
            if self.floats and not put_floats(at, plain, self.count, FLOAT_LIMIT):
                return 0
            fault = self.write_items(at, plain)
        if fault > 0 and cnp.PyArray_CheckExact(value):
            fault = self.write_array(at, value)
        if fault > 0:
            value = self.check(index_of(path), value)
            if not cnp.PyArray_CheckExact(value):
                raise TypeError("check must give an array")
            fault = self.write_array(at, value)
        if fault > 0:
            raise ValueError("check must give an array that fits")
        if fault < 0:
            raise MemoryError
        return 0

    cdef int write_plain(self, char *at, PyObject *value) noexcept:
        if self.ndim == 0:
            return put(self.code, at, value)
        if is_tuple(value) or is_list(value):
            return self.put_strided(at, value, 0)
        return self.write_array(at, <cnp.ndarray>value) if is_array(value) else 1

    cdef int put_strided(self, char *at, PyObject *value, int axis) noexcept:
        """Write the items of nested tuples and lists directly to their strides."""
        cdef object_lock lock
        cdef int fault
        if not (is_tuple(value) or is_list(value)):
            return 1
        lock_object(&lock, value)
        fault = self.put_strided_items(at, value, axis)
        unlock_object(&lock)
        return fault

    cdef int put_strided_items(self, char *at, PyObject *values, int axis) noexcept:
        cdef PyObject **items
        cdef Py_ssize_t k
        if length_of(values) != self.shape[axis]:
            return 1
        if axis < self.ndim - 1:
            for k in range(self.shape[axis]):
                if (length_of(values) != self.shape[axis]
                        or self.put_strided(at + k * self.strides[axis], items_of(values)[k], axis + 1)):
                    return 1
            return 0
        items = items_of(values)
        for k in range(self.shape[axis]):
            if put(self.code, at + k * self.strides[axis], items[k]):
                return 1
        return 0

    cdef int write_items(self, char *at, PyObject *value) noexcept:
        cdef char small[SMALL * 4]
        cdef char *stage = small
        cdef char *end
        cdef int fault
        if self.count > SMALL:
            stage = <char *>malloc(self.count * self.unit)
            if stage == NULL:
                return -1
        end = stage
        fault = self.put_dense(&end, value, 0)
        if not fault:
            self.store(at, stage)
        if stage != small:
            free(stage)
        return fault

    cdef int put_dense(self, char **to, PyObject *value, int axis) noexcept:
        """Write the items of nested tuples and lists one after the other."""
        cdef object_lock lock
        cdef int fault
        if not (is_tuple(value) or is_list(value)):
            return 1
        lock_object(&lock, value)
        fault = self.put_dense_items(to, value, axis)
        unlock_object(&lock)
        return fault

    cdef int put_dense_items(self, char **to, PyObject *values, int axis) noexcept:
        cdef PyObject **items
        cdef Py_ssize_t k
        if length_of(values) != self.shape[axis]:
            return 1
        if axis < self.ndim - 1:
            for k in range(self.shape[axis]):
                if length_of(values) != self.shape[axis] or self.put_dense(to, items_of(values)[k], axis + 1):
                    return 1
            return 0
        items = items_of(values)
        for k in range(self.shape[axis]):
            if put(self.code, to[0], items[k]):
                return 1
            to[0] += self.unit
        return 0

    cdef int write_array(self, char *at, cnp.ndarray array) noexcept:
        cdef char small[SMALL * 12]
        cdef char *stage = small
        cdef char *raw
        cdef int k, code = code_of(array), size = cnp.PyArray_ITEMSIZE(array), fault = 0
        cdef scatter_convert convert = NULL
        if code < 0 or cnp.PyArray_NDIM(array) != self.ndim:
            return 1
        for k in range(self.ndim):
            if cnp.PyArray_DIM(array, k) != self.shape[k]:
                return 1
        if code != self.code:
            convert = conversion(code, self.code)
            if convert == NULL:
                return 1
        if self.count > SMALL:
            if convert == NULL and self.dense and cnp.PyArray_IS_C_CONTIGUOUS(array):
                memmove(at, cnp.PyArray_DATA(array), self.count * self.unit)
                return 0
            stage = <char *>malloc(self.count * 12)
            if stage == NULL:
                return -1
        # All is read before anything is written: the array may be a view of these bytes.
        if convert == NULL:
            copy_strided(stage, <char *>cnp.PyArray_DATA(array), self.shape, cnp.PyArray_STRIDES(array), self.ndim,
                         size, True)
            self.store(at, stage)
        else:
            raw = <char *>cnp.PyArray_DATA(array)
            if not cnp.PyArray_IS_C_CONTIGUOUS(array):
                raw = stage + 4 * self.count
                copy_strided(raw, <char *>cnp.PyArray_DATA(array), self.shape, cnp.PyArray_STRIDES(array), self.ndim,
                             size, True)
            fault = convert(stage, raw, self.count) >= 0
            if not fault:
                self.store(at, stage)
        if stage != small:
            free(stage)
        return fault

    cdef void store(self, char *at, char *stage) noexcept:
        if self.dense:
            memcpy(at, stage, self.count * self.unit)
        else:
            copy_strided(stage, at, self.shape, self.strides, self.ndim, self.unit, False)

    cdef object read(self, char *at, object owner, bint writable):
        """The value: a number, or an array over the bytes. For normalized formats, floats: a copy."""
        cdef double d
        cdef long long n
        cdef int numpy_type = -1
        if is_normalized(self.code) or in_fours(self.code):
            return self.decode(at)
        if self.ndim == 0:
            if self.code == TYPE_F32 or self.code == TYPE_F16:
                conversion(self.code, TYPE_F64)(&d, at, 1)
                return d
            conversion(self.code, TYPE_I64)(&n, at, 1)
            return n
        numpy_type = NUMPY_TYPE[self.code]
        array = cnp.PyArray_New(cnp.ndarray, self.ndim, self.shape, numpy_type, self.strides, at, 0,
                                cnp.NPY_ARRAY_WRITEABLE if writable else 0, None)
        cnp.set_array_base(array, owner)
        return array

    cdef object decode(self, char *at):
        """Normalized integers as floats: one as a Python float, more as a read-only array of float32."""
        cdef char small[SMALL * 4]
        cdef char *stage = small
        cdef double d
        if self.ndim == 0:
            conversion(self.code, TYPE_F64)(&d, at, 1)
            return d
        floats = cnp.PyArray_EMPTY(self.ndim, self.shape, cnp.NPY_FLOAT, 0)
        if self.count > SMALL:
            stage = <char *>malloc(self.count * self.unit)
            if stage == NULL:
                raise MemoryError
        if self.count:
            copy_strided(stage, at, self.shape, self.strides, self.ndim, self.unit, True)
            conversion(self.code, TYPE_F32)(cnp.PyArray_DATA(floats), stage, self.count)
        if stage != small:
            free(stage)
        cnp.PyArray_CLEARFLAGS(floats, cnp.NPY_ARRAY_WRITEABLE)
        return floats
