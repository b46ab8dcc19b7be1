/* Locks of objects that another thread may change while we read them. They do nothing where Python has a GIL: there
 * nothing changes before we run Python code or release the GIL. */
#ifndef GPUSTRUCT_LOCKS_H
#define GPUSTRUCT_LOCKS_H

#include <Python.h>

#ifdef Py_GIL_DISABLED

enum { FREE_THREADED = 1 };

typedef struct {
    PyCriticalSection section;
    PyObject *object;
    int locked;
} object_lock;

/* Also keeps a reference: while we wait for this lock, Python suspends the caller's lock on the object's container, and
 * another thread may remove the object from it. For the same reason, whoever holds a lock reads the length and the
 * items again after each call that takes another lock. */
static inline void lock_object(object_lock *lock, PyObject *object) {
    Py_INCREF(object);
    lock->object = object;
    lock->locked = !PyTuple_CheckExact(object); /* tuples do not change */
    if (lock->locked) PyCriticalSection_Begin(&lock->section, object);
}

static inline void unlock_object(object_lock *lock) {
    if (lock->locked) PyCriticalSection_End(&lock->section);
    Py_DECREF(lock->object);
}

#else

enum { FREE_THREADED = 0 };

typedef char object_lock;

static inline void lock_object(object_lock *lock, PyObject *object) { (void)lock, (void)object; }
static inline void unlock_object(object_lock *lock) { (void)lock; }

#endif

/* A new reference to an item of an exact tuple or list, or NULL, without an error, where there is none. */
static inline PyObject *item_at(PyObject *sequence, Py_ssize_t k) {
    object_lock lock;
    lock_object(&lock, sequence);
    PyObject *item = k < PySequence_Fast_GET_SIZE(sequence) ? PySequence_Fast_ITEMS(sequence)[k] : NULL;
    Py_XINCREF(item);
    unlock_object(&lock);
    return item;
}

/* Sets *value to a new reference, or to NULL where the dict lacks the key; returns -1 with an error, 1 if found. */
static inline int dict_item(PyObject *dict, PyObject *key, PyObject **value) {
#if PY_VERSION_HEX >= 0x030d0000
    return PyDict_GetItemRef(dict, key, value);
#else
    *value = PyDict_GetItemWithError(dict, key);
    if (*value == NULL) return PyErr_Occurred() ? -1 : 0;
    Py_INCREF(*value);
    return 1;
#endif
}

#endif
