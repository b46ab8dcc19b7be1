"""What the other compiled modules use of a batch."""

from numpy cimport npy_intp

cdef enum:
    # A type nests at most 15 deep, and ends in a matrix or a vector.
    MOST_INNER = 17
    MOST_LEADING = 8


cdef struct MemberColumn:
    bint is_struct
    int ndim
    npy_intp shape[MOST_INNER]
    npy_intp strides[MOST_INNER]
    npy_intp offset
    unsigned long long accepted


cdef class MemberTable:
    cdef object cls
    cdef tuple specs, names, classes, dtypes
    cdef int count
    # Whether packed records can be seen as columns of these dtypes.
    cdef bint has_views
    cdef Py_ssize_t stride
    cdef MemberColumn *members
    # The dtype of the last structured array, and its members' fields.
    cdef object record_dtype
    cdef tuple record_fields, record_names
    cdef readonly dict plans
    # The _kernel.Plan that was used last.
    cdef object last


cdef class BatchBase:
    cdef object __weakref__
    # The type's, or None if Python makes its batches.
    cdef MemberTable table
    cdef readonly tuple __columns__
    cdef readonly tuple __shape__
    cdef readonly object __run__
    cdef readonly object __pack_plan__
    cdef readonly object __unpack_plan__


cdef MemberTable table_of(object cls)
