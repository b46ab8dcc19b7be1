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
    # The fields of the last structured array. Threads share a table: only the holder of its lock reads or sets this.
    cdef RecordFields fields
    cdef readonly dict plans
    # The _kernel.Plan that was used last; under the lock as well.
    cdef object last


cdef class RecordFields:
    cdef object dtype
    cdef tuple names, members


cdef class BatchBase:
    cdef object __weakref__
    # The type's, or None if Python makes its batches.
    cdef MemberTable table
    # Set once, before other threads see the batch.
    cdef readonly tuple __columns__
    cdef readonly tuple __shape__
    # Threads share a batch: only the holder of its lock reads or sets these.
    cdef object run, pack_plan, unpack_plan


cdef MemberTable table_of(object cls)
