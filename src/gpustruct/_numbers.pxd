"""What the other compiled modules use of `_numbers`."""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.float cimport DBL_MAX
from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from ._kernel cimport (
    conversion, TYPE_F16, TYPE_F32, TYPE_F64, TYPE_I32, TYPE_I64, TYPE_SNORM16, TYPE_SNORM8, TYPE_U32, TYPE_UNORM16,
    TYPE_UNORM8,
)

cdef extern from "Python.h":
    bint is_float "PyFloat_Check"(PyObject *value)
    bint is_exact_float "PyFloat_CheckExact"(PyObject *value)
    bint is_int "PyLong_Check"(PyObject *value)
    bint is_tuple "PyTuple_CheckExact"(PyObject *value)
    bint is_list "PyList_CheckExact"(PyObject *value)
    double float_value "PyFloat_AS_DOUBLE"(PyObject *value)
    PyObject **items_of "PySequence_Fast_ITEMS"(PyObject *sequence)
    Py_ssize_t length_of "PySequence_Fast_GET_SIZE"(PyObject *sequence)

cdef extern from "_values.h":
    int put_floats(char *to, PyObject *values, Py_ssize_t count, double limit) noexcept
    long long int_value(PyObject *value, int *overflow) noexcept
    double FLOAT_LIMIT

cdef enum:
    MOST_AXES = 24


cdef int put_numpy_scalar(int code, char *to, PyObject *value) noexcept


cdef inline bint is_normalized(int code) noexcept:
    """Whether the format is an integer for each float."""
    return code == TYPE_UNORM8 or code == TYPE_SNORM8 or code == TYPE_UNORM16 or code == TYPE_SNORM16


cdef inline int put(int code, char *to, PyObject *value) noexcept:
    """Write one Python number as the scalar `code`; returns 1, with nothing written, if it cannot."""
    cdef double d
    cdef float f
    cdef long long n
    cdef int overflow = 0
    # The check for classes derived from float is a call: an int skips it.
    if is_exact_float(value) or (not is_int(value) and is_float(value)):
        d = float_value(value)
        if code == TYPE_F32:
            if fabs(d) >= FLOAT_LIMIT and fabs(d) <= DBL_MAX:
                return 1
            f = <float>d
            memcpy(to, &f, 4)
            return 0
        if code == TYPE_F16 or is_normalized(code):
            return conversion(TYPE_F64, code)(to, &d, 1) >= 0
        return 1
    if not is_int(value):
        return put_numpy_scalar(code, to, value)
    n = int_value(value, &overflow)
    return 1 if overflow else put_integer(code, to, n)


cdef int put_narrow(int code, char *to, long long n) noexcept


cdef inline int put_integer(int code, char *to, long long n) noexcept:
    cdef float f
    cdef int32_t i
    if code == TYPE_F32:
        f = <float>n
        memcpy(to, &f, 4)
        return 0
    if code == TYPE_F16:
        return conversion(TYPE_I64, TYPE_F16)(to, &n, 1) >= 0
    if code == TYPE_I32:
        if n < -2147483648 or n > 2147483647:
            return 1
    elif code != TYPE_U32:
        return put_narrow(code, to, n)
    elif n < 0 or n > 4294967295:
        return 1
    i = <int32_t>n
    memcpy(to, &i, 4)
    return 0


cdef struct IndexPath:
    # The index of a record, or of an element of an array; `outer` is the index of what contains it.
    const IndexPath *outer
    Py_ssize_t index


cdef tuple index_of(const IndexPath *path)


cdef class Writer:
    cdef int write(self, char *at, object value, const IndexPath *path) except -1
    cdef int write_plain(self, char *at, PyObject *value) noexcept
    cdef void prefetch_members(self, PyObject *value) noexcept


cdef class NumberWriter(Writer):
    cdef int code, unit, ndim
    cdef Py_ssize_t count
    cdef bint dense, floats
    cdef cnp.npy_intp shape[MOST_AXES]
    cdef cnp.npy_intp strides[MOST_AXES]
    cdef object check
    cdef int put_strided(self, char *at, PyObject *value, int axis) noexcept
    cdef int put_strided_items(self, char *at, PyObject *values, int axis) noexcept
    cdef int write_items(self, char *at, PyObject *value) noexcept
    cdef int put_dense(self, char **to, PyObject *value, int axis) noexcept
    cdef int put_dense_items(self, char **to, PyObject *values, int axis) noexcept
    cdef int write_array(self, char *at, cnp.ndarray array) noexcept
    cdef void store(self, char *at, char *stage) noexcept
    cdef object read(self, char *at, object owner, bint writable)
    cdef object decode(self, char *at)
