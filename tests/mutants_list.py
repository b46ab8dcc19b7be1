"""The mutants of tests/mutants.py, by area: the file, its text, what replaces it, what that breaks, and the tests to run.

Tests are files of this folder, or tests in them. A sixth string says why a mutant is equivalent: it does what the code does.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    area: str
    file: str
    old: str
    new: str
    breaks: str
    tests: str
    equivalent: str = ""

    @property
    def test_names(self) -> list[str]:
        """The tests as pytest takes them."""
        return [f"tests/{name}" for name in self.tests.split()]


_ROWS: dict[str, list[tuple[str, ...]]] = {
    "layout": [
        ("layout/building.py", "if value < layout.size:", "if value < layout.size - 1:", "@size one below the type's own", "test_layout.py"),
        ("layout/building.py", "1 <= count <= MAX_COUNT", "1 <= count <= MAX_COUNT + 1", "one more than the largest count", "test_layout.py"),
        ("layout/building.py", "if count is not None and not 1 <=", "if count is not None and not 0 <=", "an array of none", "test_layout.py test_types.py"),
        ("layout/building.py", "if value % layout.align:", "if False:", "@align below the type's own", "test_layout.py"),
        ("layout/building.py", "value & (value - 1)", "False", "@align that is no power of two", "test_layout.py"),
        ("layout/building.py", "index != count - 1", "False", "a runtime-sized array in the middle", "test_layout.py test_types.py"),
        ("layout/building.py", "if len(specs) > MAX_MEMBERS:", "if len(specs) > MAX_MEMBERS + 1:", "one member too many", "test_layout.py test_types.py"),
        ("layout/building.py", "if depth > MAX_DEPTH:", "if depth > MAX_DEPTH + 1:", "one nesting too deep", "test_layout.py test_types.py"),
        ("layout/building.py", "if placed.size > MAX_BYTES:", "if placed.size > MAX_BYTES + 1:", "a struct of one byte too many", "test_layout.py test_types.py"),
        ("layout/rules.py", "offsets.append(round_up(align, end))", "offsets.append(end)", "members at any offset", "test_layout.py"),
        ("layout/rules.py", "max(effective, align)", "max(effective, member.align)", "@align of a member does not reach the struct", "test_layout.py"),
        ("layout/rules.py", "round_up(effective, end)", "end", "a struct without its last padding", "test_layout.py"),
        ("layout/rules.py", "carries_align=False", "carries_align=True", "naga as the specification", "test_layout.py test_naga_matrix.py"),
        ("layout/arithmetic.py", "isinstance(value, bool)", "False", "True as a number of bytes", "test_layout.py"),
        ("layout/arithmetic.py", "number > most", "number >= most", "the largest number", "test_layout.py test_types.py"),
        ("layout/record.py", "minimum = self._smallest_binding()", "minimum = self.size", "length(12) of a vec3f", "test_layout.py"),
        ("layout/record.py", "return (size - self.header) // self", "return size // self", "a length that counts the header", "test_layout.py"),
        ("layout/record.py", "return round_up(4, max(self.header", "return (max(self.header", "bindings of no whole words", "test_layout.py"),
        ("layout/record.py", "merged[-1].size == gap.offset:", "merged[-1].size == -1:", "padding in two parts", "test_layout.py test_report.py"),
        ("layout/extents.py", "(count - 1) + layout.size", "count", "an extent with the last padding", "test_layout.py test_files.py"),
        ("layout/extents.py", "return max(0, nbytes - layout.header + padding) // stride", "return max(0, nbytes - layout.header) // stride", "records in bytes without the last padding", "test_layout.py test_kernel.py"),
        ("layout/uniform.py", "elif layout.stride % 16 and not self.standard:", "elif layout.stride % 8 and not self.standard:", "array strides of 8 in uniform", "test_uniform.py test_layout.py"),
        ("layout/uniform.py", "if member.offset % required:", "if member.offset % 4:", "structs at any offset in uniform", "test_uniform.py test_layout.py"),
        ("layout/uniform.py", "if gap < need:", "if gap < need - 4:", "a member right after a struct in uniform", "test_uniform.py test_layout.py"),
    ],
    "plan": [
        ("plan/slots.py", "MASK_BYTES = 3 * 64 * 4", "MASK_BYTES = 3 * 64 * 4 + 16", "masks over 768 bytes", "test_kernel.py test_kernel_limits.py"),
        ("plan/slots.py", "if looped:\n", "if False:\n", "no zeros between the scalars of loops", "test_kernel.py test_kernel_limits.py"),
        ("plan/slots.py", "keep[unit // 64] |= 1 << unit % 64", "keep[unit // 64] |= 3 << unit % 63", "bits of a mask", "test_kernel.py test_kernel_limits.py"),
        ("plan/slots.py", "span.record_offset % 16 == 0:", "True:", "copies of 16 bytes across slots", "test_kernel.py"),
        ("plan/slots.py", "if start > end:", "if start > end + 4:", "4 bytes of padding are not written", "test_kernel.py"),
        ("plan/slots.py", "or _overlaps(lowering.written, at)", "", "a slot over the last column of a matrix", "test_kernel.py"),
        ("plan/slots.py", "if joined[0].size == 12 and", "if joined[0].size >= 8 and", "slots of 8 and 8 bytes", "test_kernel.py"),
        ("plan/members.py", "or 0 < abs(source.record_stride) < 4:", ":", "f32 columns at strides 1 to 3", "test_kernel.py test_kernel_limits.py"),
        ("plan/members.py", "abs(source.record_stride) < 4:", "abs(source.record_stride) < 2:", "f32 columns at strides 2 and 3", "test_kernel.py test_kernel_limits.py"),
        ("plan/members.py", "or source.swap\n", "\n", "the other byte order", "test_kernel.py"),
        ("plan/steps.py", "last.column_offset + last.size == span.column_offset", "True", "spans with gaps in the column are joined", "test_kernel.py"),
        ("plan/steps.py", "if outer is not None and (outer.record_step, outer.column_step) == steps:", "if outer is not None:", "loops with gaps are joined", "test_kernel.py"),
    ],
    "packing": [
        ("packing.py", "data[:offset] = 0\n", "pass\n", "bytes before `offset` are not zeroed", "test_kernel.py test_hostile.py"),
        ("packing.py", "_zero_all(bound, data, offset)\n            raise", "raise", "records before a fault stay in out", "test_kernel.py"),
        ("packing.py", "if record == _kernel.OVERLAP:", "if False:", "out over a column", "test_overlap.py"),
        ("packing.py", "(count is None and nbytes < threads.SPLIT_BYTES)", "True", "never more threads than one", "test_threads.py"),
        ("packing.py", "number < layout.record_stride or", "", "a stride below the record", "test_kernel.py test_hostile.py test_overlap.py"),
        ("packing.py", "number % layout.align or", "", "a stride that breaks the alignment", "test_kernel.py test_hostile.py test_overlap.py"),
        ("packing.py", "if data.nbytes - offset < bound.extent:", "if False:", "an out that is too small", "test_kernel.py"),
        ("packing.py", 'if "O" in re', 'if "Q" in re', "out of Python objects", "test_hostile.py test_kernel.py"),
    ],
    "unpacking": [
        ("unpacking.py", "data = data.copy()", "pass", "columns over the bytes that they are read from", "test_overlap.py"),
        ("unpacking.py", "count > 1 and step < reach", "count > 1 and step < 0", "out columns that overlap themselves", "test_overlap.py test_kernel.py"),
        ("unpacking.py", "if np.shares_memory(named", "if False and (named", "two out columns over the same bytes", "test_overlap.py test_kernel.py"),
        ("unpacking.py", "last = run.records - (base", "last = run.records - 0 * (base", "data that end with the last value", "test_kernel.py test_overlap.py test_files.py"),
    ],
    "sources": [
        ("sources/naming.py", "if twice is not None:", "if False:", "two columns of one name", "test_sources_columns.py test_sources_bad.py"),
        ("sources/naming.py", "if unknown:\n            raise SourceError.of(\"columns", "if False:\n            raise SourceError.of(\"columns", "columns that no member has", "test_sources_columns.py test_sources_bad.py"),
        ("sources/naming.py", "if self.renames:", "if False:", "renames of no member", "test_sources_columns.py test_sources_bad.py"),
        ("sources/columns.py", "if hasattr(source, name))", ")", "a slot that was never set", "test_sources_columns.py"),
        ("sources/columns.py", 'if not name.startswith("_"))', ")", "private attributes as columns", "test_sources_columns.py test_sources_records.py"),
        ("column_checks.py", "!= inner[0] or nested:", "!= inner[0]:", "split columns in a split column", "test_sources_columns.py"),
        ("column_checks.py", "if leading_shape and leading_shape not in shapes:", "if False:", "parts that make a table", "test_sources_columns.py test_sources_bad.py test_columns.py"),
    ],
}  # fmt: skip

MUTANTS = [
    Mutant(area, file if file.startswith("csrc/") else f"src/gpustruct/{file}", *row)
    for area, rows in _ROWS.items()
    for file, *row in rows
]
