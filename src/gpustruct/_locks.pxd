"""_locks.h for Cython."""

from cpython.object cimport PyObject

cdef extern from "_locks.h":
    enum:
        FREE_THREADED
    ctypedef struct object_lock:
        pass
    void lock_object(object_lock *lock, PyObject *object) noexcept
    void unlock_object(object_lock *lock) noexcept
    PyObject *item_at(PyObject *sequence, Py_ssize_t k) noexcept
    int dict_item(object dict, object key, PyObject **value) except -1
