/* Python objects in C, for the Cython modules that write their values to bytes. */
#ifndef GPUSTRUCT_VALUES_H
#define GPUSTRUCT_VALUES_H

#include <Python.h>
#include <limits.h>
#include <math.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

#include "_locks.h"

/* From here on a finite double rounds to infinity in f32. */
#define FLOAT_LIMIT 0x1.ffffffp127

static inline char array_kind(PyArrayObject *array) { return PyArray_DESCR(array)->kind; }

static inline void prefetch(const void *memory) {
#if defined(__GNUC__)
    __builtin_prefetch(memory);
#else
    (void)memory;
#endif
}

/* Writes Python floats as f32; returns 1, with nothing written, if one is not a float or does not fit. NaN and infinity
 * would fit too, but one comparison is cheaper than three. Four variables stay in registers; an array would not. */
static inline int float_fits(PyObject *value, float *f, double limit) {
    if (!PyFloat_CheckExact(value)) return 0;
    double d = PyFloat_AS_DOUBLE(value);
    *f = (float)d;
    return fabs(d) < limit;
}

static inline int put_items_as_floats(char *to, PyObject *values, Py_ssize_t count, double limit) {
    float x, y, z, w;
    PyObject **items = PySequence_Fast_ITEMS(values);
    if (PySequence_Fast_GET_SIZE(values) != count) return 1;
    if (count < 1 || count > 4 || !float_fits(items[0], &x, limit)) return 1;
    if (count > 1 && !float_fits(items[1], &y, limit)) return 1;
    if (count > 2 && !float_fits(items[2], &z, limit)) return 1;
    if (count > 3 && !float_fits(items[3], &w, limit)) return 1;
    memcpy(to, &x, 4);
    if (count > 1) memcpy(to + 4, &y, 4);
    if (count > 2) memcpy(to + 8, &z, 4);
    if (count > 3) memcpy(to + 12, &w, 4);
    return 0;
}

/* Writes `count` items of an exact tuple or list. */
static inline int put_floats(char *to, PyObject *values, Py_ssize_t count, double limit) {
    object_lock lock;
    lock_object(&lock, values);
    int fault = put_items_as_floats(to, values, count, limit);
    unlock_object(&lock);
    return fault;
}

/* The usual members of structs. */
enum member_kind { MEMBER_OTHER, MEMBER_F32, MEMBER_I32, MEMBER_U32, MEMBER_VEC2F, MEMBER_VEC3F, MEMBER_VEC4F };

static inline int put_float(char *to, PyObject *value, float *doubt) {
    if (!PyFloat_CheckExact(value)) return 1;
    float f = (float)PyFloat_AS_DOUBLE(value);
    *doubt += f - f;
    memcpy(to, &f, 4);
    return 0;
}

static inline int put_components(char *to, PyObject **items, const int count, float *doubt) {
    float own = 0;
    if (put_float(to, items[0], &own) || put_float(to + 4, items[1], &own)) return 1;
    if (count > 2 && put_float(to + 8, items[2], &own)) return 1;
    if (count > 3 && put_float(to + 12, items[3], &own)) return 1;
    *doubt += own;
    return 0;
}

static inline int put_vector(char *to, PyObject *value, const int count, float *doubt) {
    if (PyTuple_CheckExact(value))
        return Py_SIZE(value) != count || put_components(to, ((PyTupleObject *)value)->ob_item, count, doubt);
    if (!PyList_CheckExact(value)) return 1;
    object_lock lock;
    lock_object(&lock, value);
    int fault = Py_SIZE(value) != count || put_components(to, ((PyListObject *)value)->ob_item, count, doubt);
    unlock_object(&lock);
    return fault;
}

struct plain_member {
    int kind;
    Py_ssize_t offset;
};

/* A small integer as 32 bits. */
static inline int put_small(char *to, PyObject *value, const int negative) {
    if (!PyLong_CheckExact(value)) return 1;
#if PY_VERSION_HEX >= 0x030c0000
    if (!PyUnstable_Long_IsCompact((PyLongObject *)value)) return 1;
    long long n = PyUnstable_Long_CompactValue((PyLongObject *)value);
    if (n < (negative ? INT_MIN : 0) || n > INT_MAX) return 1;
#else
    Py_ssize_t digits = Py_SIZE(value);
    if ((digits & ~(Py_ssize_t)1) && !(negative && digits == -1)) return 1;
    long long n = digits * (long long)((PyLongObject *)value)->ob_digit[0];
#endif
    int32_t i = (int32_t)n;
    memcpy(to, &i, 4);
    return 0;
}

/* Writes an exact float, a small exact int, or a tuple or list of exact floats; returns 1 for any other value, of which
 * a part may be written. `doubt` becomes NaN after a float that is not finite as f32: one check covers many values. */
static inline int put_member(int kind, char *to, PyObject *value, float *doubt) {
    switch (kind) {
        case MEMBER_F32: return put_float(to, value, doubt);
        case MEMBER_I32: return put_small(to, value, 1);
        case MEMBER_U32: return put_small(to, value, 0);
        case MEMBER_VEC2F: return put_vector(to, value, 2, doubt);
        case MEMBER_VEC3F: return put_vector(to, value, 3, doubt);
        case MEMBER_VEC4F: return put_vector(to, value, 4, doubt);
        default: return 1;
    }
}

/* `put_member` for the items of a tuple or a list from `k` on, until one returns 1; returns its index, or `count`. */
static inline Py_ssize_t put_members(const struct plain_member *members, Py_ssize_t k, Py_ssize_t count, char *at,
                                     PyObject *values, float *doubt) {
    PyObject **items = PySequence_Fast_ITEMS(values);
    float found = *doubt;
    while (k < count && !put_member(members[k].kind, at + members[k].offset, items[k], &found)) {
        k++;
        if (FREE_THREADED && k < PySequence_Fast_GET_SIZE(values))
            items = PySequence_Fast_ITEMS(values);
        else if (FREE_THREADED)
            break;
    }
    *doubt = found;
    return k;
}

/* Small integers are read without a call. */
static inline long long int_value(PyObject *value, int *overflow) {
#if PY_VERSION_HEX >= 0x030c0000
    if (PyUnstable_Long_IsCompact((PyLongObject *)value)) return PyUnstable_Long_CompactValue((PyLongObject *)value);
#else
    Py_ssize_t digits = Py_SIZE(value);
    if (digits == 0) return 0;
    if (digits == 1) return ((PyLongObject *)value)->ob_digit[0];
#endif
    return PyLong_AsLongLongAndOverflow(value, overflow);
}

/* Whether `value` is a numpy bool, or a numpy integer that fits into int64; it goes to *n. */
static inline int numpy_integer(PyObject *value, long long *n) {
#define INTEGER(name) \
    if (Py_TYPE(value) == &Py##name##ArrType_Type) { \
        *n = (long long)PyArrayScalar_VAL(value, name); \
        return 1; \
    }
    INTEGER(Int)
    INTEGER(UInt)
    INTEGER(Long)
    INTEGER(LongLong)
    INTEGER(Short)
    INTEGER(UShort)
    INTEGER(Byte)
    INTEGER(UByte)
    INTEGER(Bool)
#undef INTEGER
    if (Py_TYPE(value) == &PyULongArrType_Type && PyArrayScalar_VAL(value, ULong) <= LLONG_MAX) {
        *n = (long long)PyArrayScalar_VAL(value, ULong);
        return 1;
    }
    return 0;
}

/* Copies the bits of a numpy float32 or float16; returns their number of bytes, or 0 for anything else. */
static inline int numpy_float(PyObject *value, void *bits) {
    if (Py_TYPE(value) == &PyFloatArrType_Type) {
        memcpy(bits, &PyArrayScalar_VAL(value, Float), 4);
        return 4;
    }
    if (Py_TYPE(value) == &PyHalfArrType_Type) {
        memcpy(bits, &PyArrayScalar_VAL(value, Half), 2);
        return 2;
    }
    return 0;
}

/* Makes Cython raise the error that a function of Python's C API has set. */
static inline int error_is_set(void) { return -1; }

/* 16 is T_OBJECT_EX: a __slots__ member, which raises AttributeError while it is unset. */
static inline Py_ssize_t member_offset(PyObject *found, PyObject *kind) {
    if (Py_TYPE(found) != &PyMemberDescr_Type) return 0;
    if (!PyType_IsSubtype((PyTypeObject *)kind, PyDescr_TYPE(found))) return 0;
    PyMemberDef *member = ((PyMemberDescrObject *)found)->d_member;
    return member->type == 16 ? member->offset : 0;
}

/* A number that changes when the class or one of its bases does; 0 if unknown. */
static inline unsigned int version_of(PyObject *kind) { return ((PyTypeObject *)kind)->tp_version_tag; }

#endif
