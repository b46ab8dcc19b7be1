# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""The records that `view` returns: each member is a descriptor that reads and writes the record's bytes."""

cimport numpy as cnp
from cpython.buffer cimport (
    PyBUF_FORMAT, PyBUF_ND, PyBUF_SIMPLE, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.number cimport PyNumber_AsSsize_t
from cpython.object cimport PyObject_GenericSetAttr
from cpython.slice cimport PySlice_AdjustIndices, PySlice_Unpack
from libc.string cimport memcmp, memcpy

from ._numbers cimport NumberWriter

cnp.import_array()

cdef char *BYTES = b"B"


cdef int export(Py_buffer *buffer, char *at, Py_ssize_t *size, bint writable, int flags) except -1:
    """Fill a buffer, except `obj`, which the caller sets: PyBuffer_FillInfo would lose a reference to None."""
    if flags & PyBUF_WRITABLE and not writable:
        raise BufferError("a view over read-only memory is not writable")
    buffer.buf, buffer.len, buffer.itemsize, buffer.readonly, buffer.ndim = at, size[0], 1, not writable, 1
    buffer.format = BYTES if flags & PyBUF_FORMAT else NULL
    buffer.shape = size if flags & PyBUF_ND else NULL
    buffer.strides = &buffer.itemsize if flags & PyBUF_STRIDES == PyBUF_STRIDES else NULL
    buffer.suboffsets, buffer.internal = NULL, NULL
    return 0


cdef class Record:
    """One record over bytes that belong to `owner`, an array of uint8.

    Each subclass has a MemberDescriptor for each member, and no other public attribute; its `__unknown__(name)` raises
    the AttributeError for a name that is not a member. An object that no MemberDescriptor made has no bytes.
    """

    cdef object owner
    cdef char *at
    cdef Py_ssize_t size
    cdef bint writable

    def __cinit__(self):
        self.at = NULL
        self.size = 0

    def __getattr__(self, name):
        return type(self).__unknown__(name)

    def __setattr__(self, name, value):
        set_member(self, name, value)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        export(buffer, self.at, &self.size, self.writable, flags)
        buffer.obj = self


cdef int set_member(object view, object name, object value) except -1:
    """Set an attribute that the view's class defines; for any other name, `__unknown__` raises."""
    try:
        return PyObject_GenericSetAttr(view, name, value)
    except AttributeError:
        if hasattr(type(view), name):
            raise
    type(view).__unknown__(name)
    return -1


cdef class Records:
    """`count` records of one class, or arrays of records, `stride` bytes apart.

    Subclasses define how a value is assigned to all of them: `__assign__(value)`.
    """

    cdef object owner
    cdef char *at
    cdef Py_ssize_t size, count, stride
    cdef bint writable
    cdef MemberDescriptor element

    def __cinit__(self):
        self.at = NULL
        self.size = self.count = 0

    def __len__(self):
        return self.count

    def __getattr__(self, name):
        return type(self).__unknown__(name)

    def __setattr__(self, name, value):
        set_member(self, name, value)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.slice_of(index)
        cdef Py_ssize_t k = self.position(index)
        return self.element.value_at(self.owner, self.at + k * self.stride, self.writable)

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            self.slice_of(index).__assign__(value)
            return
        cdef Py_ssize_t k = self.position(index)
        if self.element.writer is not None and self.writable:
            self.element.writer.write(self.at + k * self.stride, value, NULL)
            return
        self.element.assign(self.element.value_at(self.owner, self.at + k * self.stride, self.writable), value)

    def __iter__(self):
        cdef Py_ssize_t k
        for k in range(self.count):
            yield self.element.value_at(self.owner, self.at + k * self.stride, self.writable)

    cdef Records slice_of(self, slice index):
        """The records of a slice, over the same bytes."""
        cdef Py_ssize_t start, stop, step
        cdef Records rows
        PySlice_Unpack(index, &start, &stop, &step)
        if step != 1:
            raise IndexError(f"a slice of records has no step (current: {step}) - at {self.where()}; "
                             "slice one member of all of them, v.member[start:stop:step], or use a loop")
        count = PySlice_AdjustIndices(self.count, &start, &stop, step)
        rows = Records.__new__(type(self))
        rows.owner, rows.writable, rows.stride, rows.element = self.owner, self.writable, self.stride, self.element
        rows.at, rows.count = self.at + start * self.stride, count
        # The bytes may end before the padding of the last record.
        rows.size = min(count * self.stride, self.size - start * self.stride) if count else 0
        return rows

    cdef Py_ssize_t position(self, object index) except -1:
        cdef Py_ssize_t k = 0
        try:
            k = PyNumber_AsSsize_t(index, IndexError)
            if k < 0:
                k += self.count
            if 0 <= k < self.count:
                return k
        except IndexError:
            pass
        except TypeError:
            raise TypeError(f"records are taken by number, or by a slice (current: [{index!r}]) - at {self.where()}; "
                            "use v[i], v[i:j], or a loop: for record in v") from None
        raise IndexError(f"the number of a record must be below their count, {self.count} (current: {index!r}) - "
                         f"at {self.where()}; count from 0, or with negative numbers from the end")

    cdef str where(self):
        return self.element.where if self.element is not None else "nothing"

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        export(buffer, self.at, &self.size, self.writable, flags)
        buffer.obj = self


cdef class MemberDescriptor:
    """A member of a Record class: reads and writes its bytes at `offset`.

    A member of numbers has a `writer`. Otherwise it is a record of class `kind`; or, if `count` is not negative, an
    object of class `rows` with `count` elements, `stride` bytes apart, each as the MemberDescriptor `kind` describes.
    `assign(view, value)` sets records.
    """

    cdef Py_ssize_t offset, size, count, stride
    cdef NumberWriter writer
    cdef object kind, rows
    cdef readonly object assign
    cdef readonly str __name__
    cdef str where

    def __init__(self, str name, str where, Py_ssize_t offset, Py_ssize_t size, writer, kind, Py_ssize_t count,
                 Py_ssize_t stride, assign, rows=Records):
        if not issubclass(rows, Records):
            raise TypeError("rows must be a class of Records")
        if writer is None and (not isinstance(kind, MemberDescriptor) if count >= 0 else not issubclass(kind, Record)):
            raise TypeError("a MemberDescriptor has a NumberWriter, a class of records, or rows of a MemberDescriptor")
        # The bytes may end before the padding of the last record.
        if (offset < 0 or size < 0 or (count > 0 and (count - 1) * stride + (<MemberDescriptor>kind).size > size)
                or (writer is not None and size < span_of(writer))):
            raise ValueError("a MemberDescriptor's bytes must hold what it writes")
        self.__name__, self.where, self.offset, self.size = name, where, offset, size
        self.writer, self.kind, self.count, self.stride, self.assign = writer, kind, count, stride, assign
        self.rows = rows

    def __get__(self, record, kind):
        cdef Record inside
        if record is None:
            return self
        if not isinstance(record, Record) or (<Record>record).size < self.offset + self.size:
            raise TypeError(f"{self.where} is a member of another view")
        inside = record
        if self.writer is not None:
            return self.writer.read(inside.at + self.offset, inside.owner, inside.writable)
        return self.value_at(inside.owner, inside.at + self.offset, inside.writable)

    def __set__(self, record, value):
        cdef Record inside
        if not isinstance(record, Record) or (<Record>record).size < self.offset + self.size:
            raise TypeError(f"{self.where} is a member of another view")
        inside = record
        if self.writer is not None and inside.writable:
            self.writer.write(inside.at + self.offset, value, NULL)
        else:
            self.assign(self.value_at(inside.owner, inside.at + self.offset, inside.writable), value)

    def __delete__(self, record):
        raise AttributeError(f"{self.where} is a member of the type and cannot be deleted")

    def __repr__(self):
        return f"<member {self.where}: {self.size} bytes at {self.offset}>"

    cdef object value_at(self, object owner, char *at, bint writable):
        """What is at an address inside `owner`: a record, rows of records, or numbers."""
        cdef Record record
        cdef Records rows
        if self.writer is not None:
            return self.writer.read(at, owner, writable)
        if self.count < 0:
            record = Record.__new__(self.kind)
            record.owner, record.at, record.size, record.writable = owner, at, self.size, writable
            return record
        rows = Records.__new__(self.rows)
        rows.owner, rows.at, rows.size, rows.writable = owner, at, self.size, writable
        rows.count, rows.stride, rows.element = self.count, self.stride, self.kind
        return rows


cdef Py_ssize_t span_of(NumberWriter writer):
    """Bytes from a writer's first scalar to the end of its last."""
    cdef Py_ssize_t size = writer.unit
    for k in range(writer.ndim):
        size += (writer.shape[k] - 1) * writer.strides[k]
    return size


def view_at(MemberDescriptor member not None, cnp.ndarray owner not None, Py_ssize_t offset):
    """`member` over the bytes of `owner`, an array of uint8, from `offset` on."""
    if owner.dtype.char != "B" or not cnp.PyArray_IS_C_CONTIGUOUS(owner):
        raise TypeError("the bytes must be a contiguous array of uint8")
    if offset < 0 or offset > owner.nbytes or member.size > owner.nbytes - offset:
        raise ValueError("the records must fit into their bytes")
    return member.value_at(owner, <char *>cnp.PyArray_DATA(owner) + offset, cnp.PyArray_ISWRITEABLE(owner))


def element_of(Records records not None):
    """The MemberDescriptor of each of the records."""
    return records.element


def differences(now not None, before not None, Py_ssize_t gap):
    """(offset, size) of the words that differ, joined where at most `gap` bytes are between; updates `before`.

    Both are contiguous buffers of one length.
    """
    cdef Py_buffer new, old
    PyObject_GetBuffer(now, &new, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(before, &old, PyBUF_SIMPLE | PyBUF_WRITABLE)
        try:
            if new.len != old.len:
                raise ValueError("both must have the same length")
            return differing_words(<const char *>new.buf, <char *>old.buf, new.len, gap)
        finally:
            PyBuffer_Release(&old)
    finally:
        PyBuffer_Release(&new)


cdef list differing_words(const char *now, char *before, Py_ssize_t length, Py_ssize_t gap):
    cdef Py_ssize_t k = 0, first = -1, last = 0, step
    found = []
    while k < length:
        step = 256 if length - k >= 256 else length - k
        if memcmp(&now[k], &before[k], step) == 0:
            k += step
            continue
        step += k
        while k < step:
            if memcmp(&now[k], &before[k], 4 if length - k >= 4 else length - k) != 0:
                if first >= 0 and k - last > gap:
                    found.append((first, last - first))
                    first = -1
                if first < 0:
                    first = k
                last = k + 4 if k + 4 < length else length
            k += 4
    if first >= 0:
        found.append((first, last - first))
        first = found[0][0]
        memcpy(&before[first], &now[first], last - first)
    return found
