/* Python objects seen from C, for the Cython modules that write their values into bytes. */
#ifndef GPUSTRUCT_VALUES_H
#define GPUSTRUCT_VALUES_H

#include <Python.h>
#include <limits.h>
#include <math.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <string.h>
#include <structmember.h>

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

/* Up to four Python floats as f32; 1, and nothing written, if one is no float or does not fit. NaN and infinity
 * fit too, but one comparison is cheaper than three. `count` is a constant wherever this is called. */
static inline int put_some(char *to, PyObject **values, const int count, double limit) {
    float f[4];
    for (int k = 0; k < count; k++) {
        if (!PyFloat_CheckExact(values[k])) return 1;
        double d = PyFloat_AS_DOUBLE(values[k]);
        if (!(fabs(d) < limit)) return 1;
        f[k] = (float)d;
    }
    memcpy(to, f, 4 * (size_t)count);
    return 0;
}

static inline int put_floats(char *to, PyObject **values, Py_ssize_t count, double limit) {
    switch (count) {
        case 2: return put_some(to, values, 2, limit);
        case 3: return put_some(to, values, 3, limit);
        case 4: return put_some(to, values, 4, limit);
        default: return count != 1 || put_some(to, values, 1, limit);
    }
}

/* Small integers are read where they lie. */
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

/* numpy's integers that fit into 64 bits with a sign, and its bool: whether `value` is one. */
static inline int numpy_integer(PyObject *value, long long *n) {
#define INTEGER(name)                                   \
    if (Py_TYPE(value) == &Py##name##ArrType_Type) {     \
        *n = (long long)PyArrayScalar_VAL(value, name); \
        return 1;                                       \
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

/* The bits of numpy's float32 or float16, and how many bytes they are; 0 for anything else. */
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

/* 16 is T_OBJECT_EX, an object that raises AttributeError while it is unset: what __slots__ makes. */
static inline Py_ssize_t member_offset(PyObject *found, PyObject *kind) {
    if (Py_TYPE(found) != &PyMemberDescr_Type) return 0;
    if (!PyType_IsSubtype((PyTypeObject *)kind, PyDescr_TYPE(found))) return 0;
    PyMemberDef *member = ((PyMemberDescrObject *)found)->d_member;
    return member->type == 16 ? member->offset : 0;
}

/* Another number whenever a class or one of its bases has changed; 0 where that is unknown. */
static inline unsigned int version_of(PyObject *kind) { return ((PyTypeObject *)kind)->tp_version_tag; }

#endif
