# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Binds batches to the kernel in one pass over their columns: addresses, strides, and a plan.

A plan depends on dtypes, byte orders and strides, never on addresses, so new arrays with the same of these share it.
Python (`packing.bind`) binds what is unusual: split columns, runtime-sized arrays, many dimensions.
"""

import numpy as np

from . import _kernel

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcmp
from numpy cimport npy_intp

from ._batches cimport BatchBase, MOST_INNER, MOST_LEADING, MemberColumn, MemberTable
from ._kernel cimport Plan, Run, bind_run

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_CheckExact(object value)
    PyObject *PyArray_BASE(cnp.ndarray array)

cdef enum:
    MOST_LEAVES = 48
    # For each leaf: type, byte order and column; offset; record stride; a stride for each dimension.
    WORDS = MOST_INNER + 4
    MOST_PLANS = 256

cdef struct LeafColumn:
    char *data
    PyObject *owner
    int64_t leading[MOST_LEADING]
    int64_t inner[MOST_INNER]
    int64_t itemsize
    uintptr_t low, high
    int type_code, swap, inner_ndim, column
    int64_t offset

cdef struct Leaves:
    LeafColumn leaf[MOST_LEAVES]
    int count, leading_ndim, run_ndim, columns
    npy_intp target[MOST_LEADING + 2 * MOST_INNER]
    int64_t shape[MOST_LEADING]
    int64_t run[MOST_LEAVES][MOST_LEADING]
    int first[MOST_LEAVES]

# The kernel's code for each of numpy's types, by number, or -1.
cdef int TYPE_CODE[64]
cdef int number
for number in range(64):
    TYPE_CODE[number] = -1
cdef str letter
for letter in "efdbhilqBHILQ?":
    TYPE_CODE[np.dtype(letter).num] = _kernel.TYPE_CODES[np.dtype(letter).str[1:]]


cdef bint gather_leaves(BatchBase batch, Leaves *found, int ndim) except -1:
    """Describe the columns of `batch`, whose shape is the target's first `ndim`; returns whether all are usual."""
    cdef MemberTable table = batch.table
    cdef MemberColumn *member
    cdef LeafColumn *leaf
    cdef cnp.ndarray array
    cdef PyObject *owner
    cdef int k, d, skip, total, have
    cdef npy_intp size, step
    if table is None:
        return False
    for k in range(table.count):
        member = &table.members[k]
        total = ndim + member.ndim
        if total > MOST_INNER + found.leading_ndim:
            return False
        for d in range(member.ndim):
            found.target[ndim + d] = member.shape[d]
        column = batch.__columns__[k]
        if member.is_struct:
            if not gather_leaves(<BatchBase>column, found, total):
                return False
            continue
        if not PyArray_CheckExact(column) or found.count == MOST_LEAVES:
            return False
        array = column
        leaf = &found.leaf[found.count]
        found.count += 1
        have = cnp.PyArray_TYPE(array)
        if have < 0 or have > 63 or TYPE_CODE[have] < 0:
            return False
        leaf.type_code, leaf.swap = TYPE_CODE[have], not cnp.PyArray_ISNOTSWAPPED(array)
        leaf.data, leaf.itemsize = <char *>cnp.PyArray_DATA(array), cnp.PyArray_ITEMSIZE(array)
        leaf.low = leaf.high = <uintptr_t>leaf.data
        leaf.inner_ndim = total - found.leading_ndim
        have = cnp.PyArray_NDIM(array)
        skip = total - have
        if skip < 0:
            return False
        if cnp.PyArray_SIZE(array):
            leaf.high += leaf.itemsize
        for d in range(total):
            step = 0
            if d >= skip:
                size = cnp.PyArray_DIM(array, d - skip)
                if size == found.target[d]:
                    if size != 1:
                        step = cnp.PyArray_STRIDE(array, d - skip)
                elif size != 1:
                    return False
                if size > 1 and leaf.high != leaf.low:
                    if step < 0:
                        leaf.low += step * (size - 1)
                    else:
                        leaf.high += step * (size - 1)
            if d < found.leading_ndim:
                leaf.leading[d] = step
            else:
                leaf.inner[d - found.leading_ndim] = step
        owner = <PyObject *>array
        while PyArray_BASE(<cnp.ndarray>owner) != NULL:
            owner = PyArray_BASE(<cnp.ndarray>owner)
            if not isinstance(<object>owner, cnp.ndarray):
                break
        leaf.owner = owner
    return True


cdef void collapse(Leaves *found) noexcept:
    """Merge leading dimensions that are contiguous in every column; at least one remains."""
    cdef int d, k, last
    cdef bint joined
    found.run_ndim = 0
    for d in range(found.leading_ndim):
        if found.target[d] == 0:
            found.run_ndim, found.shape[0] = 1, 0
            for k in range(found.count):
                found.run[k][0] = 0
            return
    for d in range(found.leading_ndim):
        if found.target[d] == 1:
            continue
        last = found.run_ndim - 1
        joined = last >= 0
        for k in range(found.count):
            joined = joined and found.run[k][last] == found.leaf[k].leading[d] * found.target[d]
        if joined:
            found.shape[last] *= found.target[d]
        else:
            last = found.run_ndim
            found.run_ndim += 1
            found.shape[last] = found.target[d]
        for k in range(found.count):
            found.run[k][last] = found.leaf[k].leading[d]
    if not found.run_ndim:
        found.run_ndim, found.shape[0] = 1, 1
        for k in range(found.count):
            found.run[k][0] = 0


cdef void share_columns(Leaves *found) noexcept:
    """Members of one structured array become one column with offsets: fewer columns, and copies that can be joined."""
    cdef int k, g, d
    cdef char *low
    cdef char *high
    cdef char *end[MOST_LEAVES]
    cdef char *start[MOST_LEAVES]
    cdef int64_t step
    cdef bint same
    cdef LeafColumn *leaf
    cdef LeafColumn *first
    found.columns = 0
    for k in range(found.count):
        leaf = &found.leaf[k]
        step = found.run[k][found.run_ndim - 1]
        leaf.column = -1
        for g in range(found.columns if step > 0 else 0):
            first = &found.leaf[found.first[g]]
            same = first.owner == leaf.owner
            for d in range(found.run_ndim):
                same = same and found.run[found.first[g]][d] == found.run[k][d]
            if not same:
                continue
            low = leaf.data if leaf.data < start[g] else start[g]
            high = leaf.data + leaf.itemsize if leaf.data + leaf.itemsize > end[g] else end[g]
            if high - low <= step:
                leaf.column, start[g], end[g] = g, low, high
                break
        if leaf.column < 0:
            leaf.column = found.columns
            found.first[found.columns] = k
            start[found.columns], end[found.columns] = leaf.data, leaf.data + leaf.itemsize
            found.columns += 1
    for k in range(found.count):
        found.leaf[k].offset = found.leaf[k].data - start[found.leaf[k].column]


cdef Plan plan_for(MemberTable table, Leaves *found, object make):
    """The plan for columns like these: the last one, an earlier one, or a new one."""
    cdef int64_t words[MOST_LEAVES * WORDS]
    cdef int k, d, n = 0
    cdef LeafColumn *leaf
    cdef Plan plan
    for k in range(found.count):
        leaf = &found.leaf[k]
        words[n] = leaf.type_code | leaf.swap << 8 | <int64_t>leaf.column << 16
        words[n + 1], words[n + 2] = leaf.offset, found.run[k][found.run_ndim - 1]
        n += 3
        for d in range(leaf.inner_ndim):
            words[n] = leaf.inner[d]
            n += 1
    with cython.critical_section(table):
        plan = table.last
    if plan is not None:
        if PyBytes_GET_SIZE(plan.kind) == n * 8 and memcmp(PyBytes_AS_STRING(plan.kind), words, n * 8) == 0:
            return plan
    kind = PyBytes_FromStringAndSize(<char *>words, n * 8)
    found_plan = table.plans.get(kind)
    if found_plan is None:
        if len(table.plans) >= MOST_PLANS:
            table.plans.clear()
        sources = [
            (found.leaf[k].column, found.leaf[k].offset, found.leaf[k].type_code, bool(found.leaf[k].swap),
             tuple([found.leaf[k].inner[d] for d in range(found.leaf[k].inner_ndim)]),
             found.run[k][found.run_ndim - 1])
            for k in range(found.count)
        ]
        found_plan = make(table.cls, sources)
        (<Plan>found_plan).kind = kind
        table.plans[kind] = found_plan
    with cython.critical_section(table):
        table.last = found_plan
    return <Plan>found_plan


def bind(BatchBase batch not None, make):
    """A Run over the batch's columns, kept with the batch; None if they are unusual.

    `make(cls, sources)` makes a new Plan.
    """
    cdef Leaves found
    cdef int d, k, g
    cdef Plan plan
    cdef Run run
    cdef MemberTable table = batch.table
    found.count = 0
    found.leading_ndim = len(batch.__shape__)
    if table is None or found.leading_ndim > MOST_LEADING:
        return None
    for d in range(found.leading_ndim):
        found.target[d] = batch.__shape__[d]
    if not gather_leaves(batch, &found, found.leading_ndim):
        return None
    collapse(&found)
    share_columns(&found)
    plan = plan_for(table, &found, make)
    run = Run.__new__(Run)
    bind_run(run, plan, found.columns, found.count, found.run_ndim, found.shape, batch.__columns__)
    for k in range(found.count):
        g = found.leaf[k].column
        run.plan.bases[g] = found.leaf[k].data - found.leaf[k].offset
        for d in range(found.run_ndim):
            run.strides[g * found.run_ndim + d] = found.run[k][d]
        run.extents[2 * k], run.extents[2 * k + 1] = found.leaf[k].low, found.leaf[k].high
    with cython.critical_section(batch):
        batch.run = run
    return run


def pack_small(batch, out, Py_ssize_t limit, make):
    """Pack a batch of fewer than `limit` bytes to the start of `out`, in this thread; returns the array.

    `out` is an array of bytes, or None for a new one. Returns None if anything is unusual or a value does not fit:
    `pack` then finds out what it is.
    """
    cdef BatchBase given
    cdef Run run
    cdef cnp.ndarray target
    cdef npy_intp total
    if not isinstance(batch, BatchBase):
        return None
    given = batch
    with cython.critical_section(given):
        run = given.run
    if run is None:
        run = bind(given, make)
        if run is None:
            return None
    # A broadcast column may have more records than bytes can be counted.
    if run.records > limit // given.table.stride:
        return None
    total = run.records * given.table.stride
    if total >= limit:
        return None
    if out is None:
        target = cnp.PyArray_EMPTY(1, &total, cnp.NPY_UINT8, 0)
    elif not PyArray_CheckExact(out):
        return None
    else:
        target = out
        if (cnp.PyArray_TYPE(target) != cnp.NPY_UINT8 or cnp.PyArray_NDIM(target) != 1
                or not cnp.PyArray_IS_C_CONTIGUOUS(target) or not cnp.PyArray_ISWRITEABLE(target)):
            return None
    if run.scatter_plainly(<char *>cnp.PyArray_DATA(target), given.table.stride, cnp.PyArray_DIM(target, 0)):
        return target
    return None
