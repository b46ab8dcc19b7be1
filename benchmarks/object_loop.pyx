# cython: language_level=3, boundscheck=False, wraparound=False
"""The yardstick of bench_objects.py: a loop for one struct that takes exact tuples of exact numbers and nothing else."""

from cpython.object cimport PyObject

cdef extern from "Python.h":
    bint is_float "PyFloat_CheckExact"(PyObject *value)
    bint is_int "PyLong_CheckExact"(PyObject *value)
    bint is_tuple "PyTuple_CheckExact"(PyObject *value)
    double float_value "PyFloat_AS_DOUBLE"(PyObject *value)
    PyObject *item "PyTuple_GET_ITEM"(PyObject *row, Py_ssize_t k)
    Py_ssize_t length "PyTuple_GET_SIZE"(PyObject *row)
    unsigned long as_unsigned "PyLong_AsUnsignedLong"(PyObject *value) except? 0xffffffff
    PyObject *list_item "PyList_GET_ITEM"(list rows, Py_ssize_t k)


cdef int floats(float *to, PyObject *row, Py_ssize_t count) except -1:
    if not is_tuple(row) or length(row) != count:
        raise TypeError
    for k in range(count):
        if not is_float(item(row, k)):
            raise TypeError
        to[k] = <float>float_value(item(row, k))
    return 0


def particles(list rows, unsigned char[::1] out):
    """Write (position, life, velocity, id, color) for each; whether a float fits into f32 is not asked."""
    cdef Py_ssize_t k
    cdef float *to
    cdef PyObject *row
    for k in range(len(rows)):
        row, to = list_item(rows, k), <float *>&out[48 * k]
        if not is_tuple(row) or length(row) != 5 or not is_float(item(row, 1)) or not is_int(item(row, 3)):
            raise TypeError
        floats(to, item(row, 0), 3)
        to[3] = <float>float_value(item(row, 1))
        floats(to + 4, item(row, 2), 3)
        (<unsigned int *>to)[7] = <unsigned int>as_unsigned(item(row, 3))
        floats(to + 8, item(row, 4), 4)
