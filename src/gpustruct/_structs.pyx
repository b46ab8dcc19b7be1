# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""Structs from Python objects: dicts, sequences, objects with attributes.

Most records are exact tuples, lists or dicts of exact numbers, or keep their members in __slots__. `write_plain` reads
those through borrowed references. It runs no Python code, so nothing changes meanwhile; without the GIL it locks what
could. All other values go to `write`, one by one.

A writer belongs to one thread, because it remembers the class and the keys of the record before.
"""

from ._batches import is_padding

cimport cython
from cpython.dict cimport PyDict_Next, PyDict_Size
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdlib cimport free, malloc

from ._kernel cimport TYPE_F32, TYPE_I32, TYPE_U32
from ._locks cimport dict_item, FREE_THREADED, item_at, lock_object, object_lock, unlock_object
from ._numbers cimport IndexPath, index_of, items_of, NumberWriter, length_of, Writer

cdef extern from "Python.h":
    PyObject *type_of "(PyObject *)Py_TYPE"(PyObject *value)
    PyObject *get_attribute "PyObject_GetAttr"(object value, object name)

cdef extern from "_values.h":
    void prefetch(const void *memory) noexcept
    Py_ssize_t member_offset(object found, object kind) noexcept
    unsigned int version_of(PyObject *kind) noexcept
    int error_is_set() except -1
    enum:
        MEMBER_OTHER, MEMBER_F32, MEMBER_I32, MEMBER_U32, MEMBER_VEC2F
    struct plain_member:
        int kind
        Py_ssize_t offset
    int put_member(int kind, char *to, PyObject *value, float *doubt) noexcept
    Py_ssize_t put_members(const plain_member *members, Py_ssize_t k, Py_ssize_t count, char *at, PyObject *values,
                           float *doubt) noexcept

cdef enum:
    MOST_KEYS = 64  # of a dict whose order is remembered

cdef enum:
    BY_KEY, BY_INDEX, BY_NAME, BY_ITEM, BY_FIELD


cdef Py_ssize_t slots_offset(object kind, object name):
    """Where instances of a class keep a member of its __slots__; 0 where attributes are read another way."""
    if kind.__getattribute__ is not object.__getattribute__:
        return 0
    for base in kind.__mro__:
        if name in base.__dict__:
            return member_offset(base.__dict__[name], kind)
    return 0


ctypedef struct StructMember:
    # One member. The writer and the key are borrowed from the StructWriter's tuples.
    PyObject *writer
    PyObject *key
    bint has_parts          # its key is a tuple: a name for each component of a vector
    plain_member plain
    Py_ssize_t slots_offset  # of the member in objects of the class that was classified last, or 0


ctypedef struct DictEntry:
    # One entry of the dict that was read last: its key, and the index of its member or -1.
    PyObject *key
    int member


cdef int kind_of(Writer writer):
    """The kind of a member for `put_member`."""
    cdef NumberWriter leaf
    if not isinstance(writer, NumberWriter):
        return MEMBER_OTHER
    leaf = writer
    if leaf.ndim == 0:
        return {TYPE_F32: MEMBER_F32, TYPE_I32: MEMBER_I32, TYPE_U32: MEMBER_U32}.get(leaf.code, MEMBER_OTHER)
    return MEMBER_VEC2F + leaf.count - 2 if leaf.floats and leaf.count > 1 else MEMBER_OTHER


cdef inline bint write_member(const StructMember *member, char *at, PyObject *value, float *doubt) noexcept:
    """`Writer.write_plain` for a member; the usual kinds need no call."""
    at += member.plain.offset
    return put_member(member.plain.kind, at, value, doubt) and (<Writer>member.writer).write_plain(at, value)


MISSING = object()


cdef class StructWriter(Writer):
    """A struct: finds its members' values in a mapping, by position, or as attributes.

    `keys` has the name of each member's value, or a tuple of names, one for each component. `classify(index, value)`
    returns how values of its class are read; `refuse(index, value)` raises for a value that lacks members. `index` is
    that of `index_of`.

    If `extra`, other keys are ignored. `defaults` has the default of each member, or MISSING for one that must be
    there; it is None if all must be there.
    """

    cdef tuple keys
    cdef tuple writers
    cdef tuple defaults
    cdef bint extra
    cdef Py_ssize_t count, names
    cdef StructMember *members
    cdef plain_member *plain  # each member's `plain`, contiguous
    cdef object classify, refuse, last
    cdef int mode
    cdef unsigned int version  # of the class that was classified last; it changes when the class does
    cdef bint has_parts  # some member has a tuple of names
    cdef bint slotted  # the class that was classified last has every member in __slots__
    # The entries of the dict that was read last, in its order. The next dict usually has the same keys.
    cdef DictEntry entries[MOST_KEYS]
    cdef Py_ssize_t entry_count
    cdef list entry_keys
    cdef dict member_by_key

    def __cinit__(self):
        self.members = NULL
        self.plain = NULL

    def __init__(self, tuple keys, tuple writers, tuple offsets, classify, refuse, bint extra=False,
                 tuple defaults=None):
        if defaults is not None and len(defaults) != len(keys):
            raise ValueError("a StructWriter has a default, or MISSING, for each key")
        self.extra, self.defaults = extra, defaults
        if self.members != NULL or len(keys) != len(writers) or len(keys) != len(offsets):
            raise ValueError("a StructWriter has a key and an offset for each writer, and is made once")
        for writer in writers:
            if not isinstance(writer, Writer):
                raise TypeError("a StructWriter has Writers")
        self.keys, self.writers, self.classify, self.refuse = keys, writers, classify, refuse
        self.count = len(keys)
        self.names = sum([len(key) if isinstance(key, tuple) else 1 for key in keys])
        self.members = <StructMember *>malloc(max(1, self.count) * sizeof(StructMember))
        self.plain = <plain_member *>malloc(max(1, self.count) * sizeof(plain_member))
        if self.members == NULL or self.plain == NULL:
            raise MemoryError
        self.has_parts = False
        for k in range(self.count):
            key, writer = keys[k], writers[k]
            self.members[k].key, self.members[k].writer = <PyObject *>key, <PyObject *>writer
            self.members[k].slots_offset = 0
            self.members[k].has_parts = type(key) is tuple
            self.members[k].plain.kind, self.members[k].plain.offset = kind_of(writer), offsets[k]
            self.plain[k] = self.members[k].plain
            self.has_parts = self.has_parts or type(key) is tuple
        self.entry_count, self.entry_keys = 0, []
        # Keys of other classes have Python code for their hashes: they are looked up each time.
        self.member_by_key = {key: k for k, key in enumerate(keys) if type(key) is str}
        self.last = None

    def __dealloc__(self):
        free(self.members)
        free(self.plain)

    cdef int write(self, char *at, object value, const IndexPath *path) except -1:
        cdef Py_ssize_t k
        cdef StructMember *member
        cdef PyObject *item
        cdef int mode
        cdef Py_ssize_t lacking = 0
        if type(value) is not self.last or version_of(<PyObject *>self.last) != self.version:
            self.read_class(value, path)
        mode = self.mode
        if mode == BY_FIELD:
            # Values of one class may have different fields.
            value, mode = self.fields_of(value, path), BY_KEY
        if mode == BY_INDEX:
            if length_of(<PyObject *>value) != self.count:
                return self.refused(value, path)
            for k in range(self.count):
                # Python code that a member runs, or another thread, may shorten the list.
                item = item_at(<PyObject *>value, k)
                if item == NULL:
                    return self.refused(value, path)
                found = <object>item
                Py_DECREF(found)
                self.write_found(&self.members[k], at, found, path)
            return 0
        if mode == BY_NAME and self.defaults is None and not self.has_parts:
            return self.write_attributes(at, value, path)
        if not self.extra and self.defaults is None:
            if mode in (BY_KEY, BY_ITEM) and len(value) != self.names:
                return self.refused(value, path)
        for k in range(self.count):
            member = &self.members[k]
            if member.has_parts:
                found = tuple([self.find(value, part, mode, path) for part in <object>member.key])
                if self.defaults is not None and any([part is MISSING for part in found]):
                    lacking += len([part for part in found if part is MISSING])
                    found = self.default(k, value, path)
            else:
                found = self.find(value, <object>member.key, mode, path)
                if found is MISSING:
                    lacking += 1
                    found = self.default(k, value, path)
            self.write_found(member, at, found, path)
        if self.defaults is not None and not self.extra and mode in (BY_KEY, BY_ITEM):
            if len(value) != self.names - lacking:
                return self.refused(value, path)
        if self.mode == BY_KEY and type(value) is dict:
            self.remember(value)
        return 0

    cdef dict fields_of(self, object value, const IndexPath *path):
        """The fields of a numpy record, without padding that no member is named after."""
        kind = value.dtype
        if kind.names is None or value.ndim:
            self.refused(value, path)
        return {name: value[name] for name in kind.names if name in self.member_by_key or not is_padding(kind[name])}

    cdef int write_attributes(self, char *at, object value, const IndexPath *path) except -1:
        """`write` for an object with all members as attributes. Most of the time goes to looking them up."""
        cdef Py_ssize_t k
        cdef PyObject *found
        cdef float doubt = 0
        for k in range(self.count):
            found = get_attribute(value, <object>self.members[k].key)
            if found == NULL:
                self.attribute_failed(value, <object>self.members[k].key, path)
            if put_member(self.plain[k].kind, at + self.plain[k].offset, found, &doubt) or doubt != 0:
                doubt = 0
                owned = <object>found
                Py_DECREF(owned)
                self.write_found(&self.members[k], at, owned, path)
            else:
                Py_DECREF(<object>found)
        return 0

    cdef inline int write_found(self, StructMember *member, char *at, object found, const IndexPath *path) except -1:
        cdef float doubt = 0
        if write_member(member, at, <PyObject *>found, &doubt) or doubt != 0:
            (<Writer>member.writer).write(at + member.plain.offset, found, path)
        return 0

    cdef object default(self, Py_ssize_t k, object value, const IndexPath *path):
        """The value for a member that `value` lacks."""
        found = self.defaults[k]
        if found is MISSING:
            self.refused(value, path)
        return found

    cdef int read_class(self, object value, const IndexPath *path) except -1:
        """Find out how values of this class are read. Stored at once: the Python code that runs may come back here."""
        cdef Py_ssize_t k
        cdef unsigned int version
        mode = self.classify(index_of(path), value)
        kind = type(value)
        offsets = [0 if type(key) is tuple or mode != BY_NAME else slots_offset(kind, key) for key in self.keys]
        version = version_of(<PyObject *>kind)
        for k in range(self.count):
            # A class without a version may change unnoticed.
            self.members[k].slots_offset = offsets[k] if version else 0
        self.slotted = version != 0 and mode == BY_NAME and all(offsets)
        self.mode, self.last, self.version = mode, kind, version
        return 0

    cdef int remember(self, dict value) except -1:
        """Store the order of a dict's keys."""
        cdef Py_ssize_t k, position = 0, count = 0, found = 0
        cdef PyObject *name = NULL
        cdef DictEntry entries[MOST_KEYS]
        cdef list names = []
        if self.has_parts or PyDict_Size(value) > MOST_KEYS:
            return 0
        with cython.critical_section(value):
            while PyDict_Next(value, &position, &name, NULL):
                key = <object>name
                if type(key) is not str or count == MOST_KEYS:
                    return 0
                entries[count].key, entries[count].member = name, self.member_by_key.get(key, -1)
                found += entries[count].member >= 0
                names.append(key)
                count += 1
        if found != self.count:
            return 0
        for k in range(count):
            self.entries[k] = entries[k]
        self.entry_count, names, self.entry_keys = count, self.entry_keys, names
        return 0

    cdef int refused(self, object value, const IndexPath *path) except -1:
        self.refuse(index_of(path), value)
        raise TypeError("refuse must raise")

    cdef inline object find(self, object value, object key, int mode, const IndexPath *path):
        cdef PyObject *found
        if mode == BY_NAME:
            if self.defaults is not None:
                return getattr(value, key, MISSING)
            found = get_attribute(value, key)
            if found == NULL:
                self.attribute_failed(value, key, path)
            owned = <object>found
            Py_DECREF(owned)
            return owned
        if mode == BY_KEY:
            if not dict_item(value, key, &found):
                return self.lacks(value, path)
            owned = <object>found
            Py_DECREF(owned)
            return owned
        return value[key] if key in value else self.lacks(value, path)

    cdef int attribute_failed(self, object value, object key, const IndexPath *path) except -1:
        try:
            error_is_set()
        except AttributeError:
            # A member that only other records of the class have, or one of __slots__ that was never set.
            if not hasattr(value, key):
                self.refused(value, path)
            raise

    cdef object lacks(self, object value, const IndexPath *path):
        if self.defaults is None:
            self.refused(value, path)
        return MISSING

    cdef int write_plain(self, char *at, PyObject *value) noexcept:
        cdef object_lock lock
        cdef int fault
        if type_of(value) != <PyObject *>self.last or version_of(type_of(value)) != self.version:
            return 1
        lock_object(&lock, value)
        fault = self.write_locked(at, value)
        unlock_object(&lock)
        return fault

    cdef int write_locked(self, char *at, PyObject *value) noexcept:
        """`write_plain` for a value of the class that was classified last, which no other thread changes meanwhile."""
        cdef Py_ssize_t k = 0, position = 0
        cdef PyObject *name = NULL
        cdef PyObject *item = NULL
        cdef int member
        cdef float doubt = 0
        if self.mode == BY_INDEX:
            if length_of(value) != self.count:
                return 1
            while True:
                k = put_members(self.plain, k, self.count, at, value, &doubt)
                if k == self.count:
                    break
                if FREE_THREADED and length_of(value) != self.count:
                    return 1
                if (<Writer>self.members[k].writer).write_plain(at + self.plain[k].offset, items_of(value)[k]):
                    return 1
                k += 1
                if FREE_THREADED and length_of(value) != self.count:
                    return 1
            return doubt != 0
        if self.mode == BY_KEY:
            # There are none if a member has a tuple of names.
            if PyDict_Size(<object>value) != self.entry_count or not self.entry_count:
                return 1
            for k in range(self.entry_count):
                if not PyDict_Next(<object>value, &position, &name, &item) or name != self.entries[k].key:
                    return 1
                member = self.entries[k].member
                if member >= 0 and write_member(&self.members[member], at, item, &doubt):
                    return 1
            return doubt != 0
        if not self.slotted:
            return 1
        for k in range(self.count):
            item = (<PyObject **>(<char *>value + self.members[k].slots_offset))[0]
            if item == NULL or write_member(&self.members[k], at, item, &doubt):
                return 1
        return doubt != 0

    cdef void prefetch_members(self, PyObject *value) noexcept:
        cdef Py_ssize_t k
        if FREE_THREADED or type_of(value) != <PyObject *>self.last:
            return
        if self.mode == BY_INDEX:
            for k in range(length_of(value)):
                prefetch(items_of(value)[k])
        elif self.mode == BY_NAME and self.slotted:
            for k in range(self.count):
                prefetch((<PyObject **>(<char *>value + self.members[k].slots_offset))[0])
