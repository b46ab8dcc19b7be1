# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""Structs out of Python objects: dicts, sequences, attributes; and lists of them into records."""

from .zero_filled import zero_filled

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.dict cimport PyDict_GetItemWithError, PyDict_Next, PyDict_Size
from cpython.object cimport PyObject, PyObject_GetAttr
from libc.stdlib cimport free, malloc

from ._numbers cimport is_list, is_tuple, items_of, Leaf, length_of, put, put_floats, FLOAT_LIMIT, Writer

cdef extern from "Python.h":
    PyObject *type_of "(PyObject *)Py_TYPE"(PyObject *value)

cdef extern from "_values.h":
    void prefetch(const void *memory) noexcept
    const void *key_table(PyObject *mapping) noexcept
    Py_ssize_t member_offset(object found, object kind) noexcept
    unsigned int version_of(PyObject *kind) noexcept

cdef enum:
    BLOCK = 16  # records of plain values that are looked at together
    MOST_MEMBERS = 16

cdef enum:
    BY_KEY, BY_INDEX, BY_NAME, BY_ITEM


cdef Py_ssize_t slot_of(object kind, object name):
    """Where instances of a class hold a member of its __slots__; 0 where attributes have another way."""
    if kind.__getattribute__ is not object.__getattribute__:
        return 0
    for base in kind.__mro__:
        if name in base.__dict__:
            return member_offset(base.__dict__[name], kind)
    return 0


ctypedef struct Place:
    # One member: borrowed from the tuples that the Group holds.
    PyObject *writer
    PyObject *key
    PyObject *seen       # the same name as the object that the last dict had for it
    bint parted
    int vector           # components of a vector of f32, or 0
    int scalar           # the type of a number, or -1
    Py_ssize_t offset
    Py_ssize_t slot      # where objects of the class that was classified last keep a __slots__ member, or 0


cdef inline bint quick(const Place *place, char *at, PyObject *value) noexcept:
    """Whether a value was plain enough to be written at once: no Python code runs here, so nothing need be held."""
    if place.vector:
        return ((is_tuple(value) or is_list(value)) and length_of(value) == place.vector
                and not put_floats(at + place.offset, items_of(value), place.vector, FLOAT_LIMIT))
    return place.scalar >= 0 and not put(place.scalar, at + place.offset, value)


MISSING = object()


cdef class Group(Writer):
    """A struct: its members' values found in a mapping, by position, or as attributes.

    `keys` names each member's value; a tuple names the parts of one that lies in several. `classify(value)`
    tells how values of its class are read; `refuse(value)` raises for one that has not got them.

    With `extra`, other keys than these are passed over. `defaults` has a value for each member that a mapping or an
    object may lack, and MISSING for one that it may not; None where that is all of them.
    """

    cdef tuple keys
    cdef tuple writers
    cdef tuple defaults
    cdef bint extra
    cdef Py_ssize_t count, names
    cdef Place *places
    cdef object classify, refuse, last
    cdef list seen
    cdef int mode
    cdef unsigned int version  # of the class that was classified last, which changes when the class does
    cdef bint plain    # every member is a number or a short vector, found under one name
    cdef bint slotted  # the class that was classified last keeps every member in __slots__

    def __cinit__(self):
        self.places = NULL

    def __init__(self, tuple keys, tuple writers, tuple offsets, classify, refuse, bint extra=False,
                 tuple defaults=None):
        if defaults is not None and len(defaults) != len(keys):
            raise ValueError("a Group has a default, or MISSING, for each key")
        self.extra, self.defaults = extra, defaults
        if self.places != NULL or len(keys) != len(writers) or len(keys) != len(offsets):
            raise ValueError("a Group has a key and an offset for each writer, and is made once")
        for writer in writers:
            if not isinstance(writer, Writer):
                raise TypeError("a Group has Writers")
        self.keys, self.writers, self.classify, self.refuse = keys, writers, classify, refuse
        self.count = len(keys)
        self.names = sum([len(key) if isinstance(key, tuple) else 1 for key in keys])
        self.places = <Place *>malloc(max(1, self.count) * sizeof(Place))
        if self.places == NULL:
            raise MemoryError
        self.plain = 0 < self.count <= MOST_MEMBERS
        for k in range(self.count):
            key, writer = keys[k], writers[k]
            self.places[k].key, self.places[k].writer = <PyObject *>key, <PyObject *>writer
            self.places[k].seen, self.places[k].slot = <PyObject *>key, 0
            self.places[k].vector, self.places[k].scalar = 0, -1
            if isinstance(writer, Leaf):
                self.places[k].vector = (<Leaf>writer).count if (<Leaf>writer).floats else 0
                self.places[k].scalar = (<Leaf>writer).code if (<Leaf>writer).ndim == 0 else -1
            self.places[k].parted, self.places[k].offset = type(key) is tuple, offsets[k]
            if not self.places[k].vector and self.places[k].scalar < 0 or self.places[k].parted:
                self.plain = False
        self.seen = list(keys)
        self.last = None

    def __dealloc__(self):
        free(self.places)

    cdef int write(self, char *at, object value) except -1:
        cdef Py_ssize_t k
        cdef Place *place
        cdef int mode
        cdef Py_ssize_t position = 0
        cdef Py_ssize_t lacking = 0
        cdef PyObject *name = NULL
        cdef PyObject *item = NULL
        if type(value) is not self.last or version_of(<PyObject *>self.last) != self.version:
            self.look_at(value)
        mode = self.mode
        if mode == BY_INDEX:
            if length_of(<PyObject *>value) != self.count:
                return self.refused(value)
            for k in range(self.count):
                # A member's own code may shorten a list meanwhile.
                if k >= length_of(<PyObject *>value):
                    return self.refused(value)
                item = items_of(<PyObject *>value)[k]
                if quick(&self.places[k], at, item):
                    continue
                found = <object>item  # Held: its own code may take it off the list.
                (<Writer>self.places[k].writer).write(at + self.places[k].offset, found)
            return 0
        if not self.extra and self.defaults is None:
            if mode == BY_KEY:
                if PyDict_Size(value) != self.names:
                    return self.refused(value)
            elif mode == BY_ITEM and len(value) != self.names:
                return self.refused(value)
        for k in range(self.count):
            place = &self.places[k]
            name = NULL
            if (mode == BY_KEY and PyDict_Next(value, &position, &name, &item) and name == place.seen
                    and not place.parted):
                if quick(place, at, item):
                    continue
                found = <object>item
            elif place.parted:
                found = tuple([self.find(value, part, mode) for part in <object>place.key])
                if self.defaults is not None and any([part is MISSING for part in found]):
                    lacking += len([part for part in found if part is MISSING])
                    found = self.default(k, value)
            elif mode == BY_KEY:
                came = <object>name if name != NULL else None
                if type(came) is str and came == <object>place.key:
                    # Keys that come in the members' order are found by identity from now on.
                    self.seen[k] = came
                    place.seen = <PyObject *>came
                found = self.find(value, <object>place.key, mode)
            elif (place.slot and type(value) is self.last
                    and (<PyObject **>(<char *><PyObject *>value + place.slot))[0] != NULL):
                item = (<PyObject **>(<char *><PyObject *>value + place.slot))[0]
                if quick(place, at, item):
                    continue
                found = <object>item
            else:
                found = self.find(value, <object>place.key, mode)
            if found is MISSING:
                lacking += 1
                found = self.default(k, value)
            (<Writer>place.writer).write(at + place.offset, found)
        if self.defaults is not None and not self.extra and mode in (BY_KEY, BY_ITEM):
            if len(value) != self.names - lacking:
                return self.refused(value)
        return 0

    cdef object default(self, Py_ssize_t k, object value):
        """The value for a member that `value` lacks."""
        found = self.defaults[k]
        if found is MISSING:
            self.refused(value)
        return found

    cdef int look_at(self, object value) except -1:
        """Find out how values of this one's class are read; stored at once, for Python code may come back here."""
        cdef Py_ssize_t k
        cdef unsigned int version
        mode = self.classify(value)
        kind = type(value)
        slots = [0 if type(key) is tuple or mode != BY_NAME else slot_of(kind, key) for key in self.keys]
        version = version_of(<PyObject *>kind)
        for k in range(self.count):
            # A class that cannot be told from itself changed is asked each time.
            self.places[k].slot = slots[k] if version else 0
        self.slotted = version != 0 and all(slots)
        self.mode, self.last, self.version = mode, kind, version
        return 0

    cdef int refused(self, object value) except -1:
        self.refuse(value)
        raise TypeError("refuse must raise")

    cdef inline object find(self, object value, object key, int mode):
        cdef PyObject *found
        if mode == BY_NAME:
            return PyObject_GetAttr(value, key) if self.defaults is None else getattr(value, key, MISSING)
        if mode == BY_KEY:
            found = PyDict_GetItemWithError(value, key)
            if found == NULL:
                return self.lacks(value)
            return <object>found
        return value[key] if key in value else self.lacks(value)

    cdef object lacks(self, object value):
        if self.defaults is None:
            self.refused(value)
        return MISSING

    cdef Py_ssize_t gather(self, PyObject **records, Py_ssize_t count, PyObject **found) noexcept:
        """Where the members of up to `count` records are, as borrowed references; how many records could be seen.

        One look at a record's memory finds them; no Python code runs. What they point at is asked for.
        """
        cdef Py_ssize_t r, k, position
        cdef PyObject *record
        cdef PyObject *name = NULL
        for r in range(count):
            record = records[r]
            if type_of(record) != <PyObject *>self.last:
                return r
            if self.mode == BY_INDEX:
                if length_of(record) != self.count:
                    return r
            elif self.mode == BY_KEY:
                if PyDict_Size(<object>record) != self.count:
                    return r
            position = 0
            for k in range(self.count):
                if self.mode == BY_INDEX:
                    found[k] = items_of(record)[k]
                elif self.mode == BY_KEY:
                    if not PyDict_Next(<object>record, &position, &name, &found[k]) or name != self.places[k].seen:
                        return r
                else:
                    found[k] = (<PyObject **>(<char *>record + self.places[k].slot))[0]
                    if found[k] == NULL:
                        return r
                prefetch(found[k])
            found += self.count
        return count

    cdef Py_ssize_t write_block(self, PyObject **records, Py_ssize_t count, Py_ssize_t behind, char *at,
                                Py_ssize_t stride) noexcept:
        """Write up to BLOCK records of plain values; how many were written. `behind`: how many more follow.

        Records lie wherever Python put them, and one waits for memory at each step from object to member to
        number. So a block's members are looked up together, then their numbers asked for, then all written.
        """
        cdef PyObject *found[BLOCK * MOST_MEMBERS]
        cdef Py_ssize_t r, k, unit, seen
        cdef PyObject *item
        cdef const char *table
        if not self.plain or self.last is None or self.mode == BY_ITEM or (self.mode == BY_NAME and not self.slotted):
            return 0
        if version_of(<PyObject *>self.last) != self.version:
            return 0
        for r in range(count, count + min(count, behind)):
            prefetch(records[r])
            prefetch(<char *>records[r] + 64)
        seen = self.gather(records, count, found)
        for k in range(seen * self.count):
            item = found[k]
            if is_tuple(item) or is_list(item):
                for unit in range(length_of(item)):
                    prefetch(items_of(item)[unit])
        if self.mode == BY_KEY:
            for r in range(count, count + min(count, behind)):
                if type_of(records[r]) == <PyObject *>self.last:
                    table = <const char *>key_table(records[r])
                    prefetch(table)
                    prefetch(table + 64)
                    prefetch(table + 128)
        for r in range(seen):
            for k in range(self.count):
                if not quick(&self.places[k], at + r * stride, found[r * self.count + k]):
                    return r
        return seen


cdef class Rows(Writer):
    """`count` elements, `stride` bytes apart, each written by `inner`. `refuse(value)` raises for another number.

    Of `zero_filled` values only those that there are: what is written into is zero already.
    """

    cdef Py_ssize_t count, stride
    cdef Writer inner
    cdef object refuse

    def __init__(self, Py_ssize_t count, Py_ssize_t stride, Writer inner not None, refuse):
        self.count, self.stride, self.inner, self.refuse = count, stride, inner, refuse

    cdef int write(self, char *at, object value) except -1:
        cdef Py_ssize_t k, count = self.count
        if type(value) is zero_filled:
            value = list(value.values)
            count = min(count, <Py_ssize_t>len(value))
        if type(value) is not tuple and type(value) is not list:
            try:
                items = iter(() if isinstance(value, (str, bytes, dict)) else value)
            except TypeError:
                items = None
            if items is None or isinstance(value, (str, bytes, dict)):
                self.refuse(value)
                return -1
            value = list(items)
        if length_of(<PyObject *>value) != count:
            self.refuse(value)
            return -1
        for k in range(count):
            if k >= length_of(<PyObject *>value):
                self.refuse(value)
                return -1
            element = <object>items_of(<PyObject *>value)[k]  # Held: its own code may take it off the list.
            self.inner.write(at + k * self.stride, element)
        return 0


def fill(Writer writer not None, list values, out, Py_ssize_t stride, Py_ssize_t size, list place):
    """Write each value into its record of `size` bytes, `stride` apart in `out`, which has room for just these.

    Where one fails, its number goes to `place`.
    """
    cdef Py_buffer view
    cdef Py_ssize_t k = 0, count = len(values), block, done, single = 1
    cdef Group group = writer if isinstance(writer, Group) else None
    PyObject_GetBuffer(out, &view, PyBUF_SIMPLE | PyBUF_WRITABLE)
    try:
        if stride < size or size < 0:
            raise ValueError("the records must lie in out")
        if count * stride != view.len:
            raise RuntimeError("the list of records changed its length while it was read")
        try:
            while k < count:
                if k + BLOCK > len(values) and len(values) < count:
                    raise RuntimeError("the list of records changed its length while it was read")
                if group is not None and single == 0:
                    block = min(<Py_ssize_t>BLOCK, count - k)
                    done = group.write_block(items_of(<PyObject *>values) + k, block, len(values) - k - block,
                                             <char *>view.buf + k * stride, stride)
                    k += done
                    if done == block:
                        continue
                    # One that needs a closer look is seldom alone.
                    single = BLOCK
                single -= 1
                writer.write(<char *>view.buf + k * stride, values[k])
                k += 1
        except BaseException:
            place.append(k)
            raise
    finally:
        PyBuffer_Release(&view)
