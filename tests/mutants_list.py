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
        ("layout/building.py", "if count is not None and not 1 <=", "if count is not None and not 0 <=", "an array of none", "test_layout.py"),
        ("layout/building.py", "if value % layout.align:", "if False:", "@align below the type's own", "test_bad_schemas.py"),
        ("layout/building.py", "value & (value - 1)", "False", "@align that is no power of two", "test_bad_schemas.py"),
        ("layout/building.py", "index != count - 1", "False", "a runtime-sized array in the middle", "test_layout.py test_bad_schemas.py"),
        ("layout/building.py", "if len(specs) > MAX_MEMBERS:", "if len(specs) > MAX_MEMBERS + 1:", "one member too many", "test_layout.py test_bad_schemas.py"),
        ("layout/building.py", "if depth > MAX_DEPTH:", "if depth > MAX_DEPTH + 1:", "one nesting too deep", "test_layout.py test_bad_schemas.py"),
        ("layout/building.py", "if placed.size > MAX_BYTES:", "if placed.size > MAX_BYTES + 1:", "a struct of one byte too many", "test_layout.py"),
        ("layout/rules.py", "offsets.append(round_up(align, end))", "offsets.append(end)", "members at any offset", "test_layout.py"),
        ("layout/rules.py", "max(effective, align)", "max(effective, member.align)", "@align of a member does not reach the struct", "test_layout.py"),
        ("layout/rules.py", "round_up(effective, end)", "end", "a struct without its last padding", "test_layout.py"),
        ("layout/rules.py", "carries_align=False", "carries_align=True", "naga as the specification", "test_layout.py test_naga_matrix.py"),
        ("layout/arithmetic.py", "isinstance(value, bool | np.bool)", "False", "True as a number of bytes", "test_layout.py"),
        ("layout/arithmetic.py", "number > most", "number >= most", "the largest number", "test_layout.py test_bad_schemas.py"),
        ("layout/record.py", "minimum = self._smallest_binding()", "minimum = self.size", "length(12) of a vec3f", "test_layout.py"),
        ("layout/record.py", "return (size - self.header) // self", "return size // self", "a length that counts the header", "test_layout.py"),
        ("layout/record.py", "return round_up(4, max(self.header", "return (max(self.header", "bindings of no whole words", "test_layout.py"),
        ("layout/record.py", "min(member.size, member.layout.size)", "member.size", "padding that a member's @size makes", "test_layout.py"),
        ("layout/extents.py", "(count - 1) + layout.size", "count", "an extent with the last padding", "test_layout.py"),
        ("layout/extents.py", "return max(0, nbytes - layout.header + padding) // stride", "return max(0, nbytes - layout.header) // stride", "records in bytes without the last padding", "test_layout.py"),
        ("layout/uniform.py", "elif layout.stride % 16 and not self.standard:", "elif layout.stride % 8 and not self.standard:", "array strides of 8 in uniform", "test_uniform.py test_layout.py"),
        ("layout/uniform.py", "if member.offset % required:", "if member.offset % 4:", "structs at any offset in uniform", "test_uniform.py test_layout.py"),
        ("layout/uniform.py", "if gap < need:", "if gap < need - 4:", "a member right after a struct in uniform", "test_uniform.py test_layout.py"),
    ],
    "plan": [
        ("plan/slots.py", "MASK_BYTES = 3 * 64 * 4", "MASK_BYTES = 3 * 64 * 4 + 16", "masks over 768 bytes", "test_kernel_limits.py test_kernel.py::test_random_batches_on_every_path test_kernel.py::test_large_arrays_become_loops"),
        ("plan/slots.py", "if looped:\n", "if False:\n", "no zeros between the scalars of loops", "test_kernel_limits.py test_kernel.py::test_random_batches_on_every_path test_kernel.py::test_large_arrays_become_loops"),
        ("plan/slots.py", "keep[unit // 64] |= 1 << unit % 64", "keep[unit // 64] |= 3 << unit % 63", "bits of a mask", "test_kernel_limits.py test_kernel.py::test_random_batches_on_every_path test_kernel.py::test_large_arrays_become_loops"),
        ("plan/slots.py", "span.record_offset % 16 == 0:", "True:", "copies of 16 bytes across slots", "test_kernel_limits.py", "A part of 16 bytes or more starts at a slot: _split_at_slots makes no other."),
        ("plan/slots.py", "if start > end:", "if start > end + 4:", "4 bytes of padding are not written", "test_kernel.py"),
        ("plan/slots.py", "or _overlaps(lowering.written, at)", "", "a slot over the last column of a matrix", "test_kernel.py"),
        ("plan/slots.py", "if joined[0].size == 12 and", "if joined[0].size >= 8 and", "slots of 8 and 8 bytes", "test_kernel.py"),
        ("plan/members.py", "or 0 < abs(source.record_stride) < 4:", ":", "f32 columns at strides 1 to 3", "test_kernel_limits.py test_kernel.py::test_random_batches_on_every_path test_kernel.py::test_large_arrays_become_loops"),
        ("plan/members.py", "abs(source.record_stride) < 4:", "abs(source.record_stride) < 2:", "f32 columns at strides 2 and 3", "test_kernel_limits.py test_kernel.py::test_random_batches_on_every_path test_kernel.py::test_large_arrays_become_loops"),
        ("plan/members.py", "or source.swap\n", "\n", "the other byte order", "test_kernel.py"),
        ("plan/steps.py", "last.column_offset + last.size == span.column_offset", "True", "spans with gaps in the column are joined", "test_kernel.py"),
        ("plan/steps.py", "if outer is not None and (outer.record_step, outer.column_step) == steps:", "if outer is not None:", "loops with gaps are joined", "test_kernel.py"),
        ("plan/steps.py", "last.end == span.record_offset and follows(last, span)", "follows(last, span)", "spans with gaps in the record are joined", "test_kernel.py::test_random_batches_on_every_path"),
        ("plan/members.py", "cols.column_step != 4 or", "", "columns of a matrix with gaps are transposed", "test_kernel.py::test_random_batches_on_every_path test_sources_columns.py"),
        ("plan/members.py", "if SCALAR_CODES[leaf.scalar] in IN_FOURS:", "if False:", "four scalars of a word are not converted together", "test_vertex_scalars.py"),
        ("plan/slots.py", "readable = min(end, stop) - start", "readable = stop - start", "a mask reads padding after the last value", "test_kernel_limits.py"),
        ("plan/slots.py", "or start % 16 or", "or", "a mask from any byte on", "test_kernel_limits.py", "Where one column has all of several spans, the first one is the first member, at byte 0."),
    ],
    "packing": [
        ("packing.py", "data[:offset] = 0\n", "pass\n", "bytes before `offset` are not zeroed", "test_pack_arguments.py test_overlap.py"),
        ("packing.py", "_zero_all(bound, data, offset)\n            raise", "raise", "records before a fault stay in out", "test_pack_arguments.py test_overlap.py"),
        ("packing.py", "if record == _kernel.OVERLAP:", "if False:", "out over a column", "test_pack_arguments.py test_overlap.py"),
        ("packing.py", "(count is None and nbytes < threads.SPLIT_BYTES)", "True", "never more threads than one", "test_threads.py"),
        ("packing.py", "number < layout.record_stride or", "", "a stride below the record", "test_pack_arguments.py test_overlap.py"),
        ("packing.py", "number % layout.align or", "", "a stride that breaks the alignment", "test_pack_arguments.py test_overlap.py"),
        ("packing.py", "if data.nbytes - offset < bound.extent:", "if False:", "an out that is too small", "test_pack_arguments.py test_overlap.py"),
        ("packing.py", 'if "O" in re', 'if "Q" in re', "out of Python objects", "test_pack_arguments.py test_overlap.py"),
        ("packing.py", "number * (bound.count - 1) + layout.record_stride if", "number * bound.count if", "a last stride after the last record", "test_pack_arguments.py test_kernel.py::test_gaps_of_a_wider_stride_stay"),
        ("packing.py", "    aside[: bound.extent] = target\n", "", "gaps in an out that ends with the last value", "test_pack_arguments.py"),
        ("packing.py", "if len(bound.parts) > 1 and any(", "if False and any(", "a header over the column of the tail", "test_pack_arguments.py test_overlap.py"),
        ("column_specs.py", "return np.isinf(values.astype(row.format)) & np.isfinite(values)", "return np.isinf(values.astype(row.format))", "an infinity is blamed for the value beside it", "test_kernel.py::test_an_infinity_beside_a_bad_value_is_not_named"),
    ],
    "unpacking": [
        ("unpacking.py", "data = data.copy()", "pass", "columns over the bytes that they are read from", "test_pack_arguments.py test_overlap.py"),
        ("unpacking.py", "count > 1 and step < reach", "count > 1 and step < 0", "out columns that overlap themselves", "test_pack_arguments.py test_overlap.py"),
        ("unpacking.py", "if np.shares_memory(named", "if False and (named", "two out columns over the same bytes", "test_pack_arguments.py test_overlap.py"),
        ("unpacking.py", "last = run.records - (base", "last = run.records - 0 * (base", "data that end with the last value", "test_pack_arguments.py test_overlap.py"),
        ("unpacking.py", "padding = (0, layout.record_stride - size, step - size)", "padding = (0, layout.record_stride - size)", "data that end where the next record would start", "test_pack_arguments.py test_overlap.py"),
        ("unpacking.py", "np.concatenate([data[base + stride * last :]", "np.concatenate([data[base:]", "the last record is read from the first", "test_pack_arguments.py test_overlap.py"),
        ("unpacking.py", "if type(out) is not cls:", "if False:", "an out of another type", "test_pack_arguments.py test_overlap.py"),
        ("unpacking.py", "if part.run.records != expected:", "if False:", "an out of another length", "test_pack_arguments.py test_overlap.py"),
        ("unpacking.py", "if view.shape != target or", "if", "an out column that is broadcast", "test_pack_arguments.py test_overlap.py"),
        ("unpacking.py", "if kind not in (\"iu\" if integer else \"f\"):", "if kind not in \"iuf\":", "floats to integers", "test_pack_arguments.py"),
        ("unpacking.py", "number = whole_number(count, 0, available)", "number = whole_number(count, 0)", "a count of more records than the data have", "test_pack_arguments.py test_overlap.py"),
        ("unpacking.py", "if room < 0:", "if False:", "data smaller than the header", "test_pack_arguments.py test_overlap.py"),
    ],
    "sources": [
        ("sources/naming.py", "if twice is not None:", "if False:", "two columns of one name", "test_sources_columns.py test_sources_bad.py"),
        ("sources/naming.py", "if unknown:\n            raise SourceError.of(\"columns", "if False:\n            raise SourceError.of(\"columns", "columns that no member has", "test_sources_columns.py test_sources_bad.py"),
        ("sources/naming.py", "if self.renames:", "if False:", "renames of no member", "test_sources_columns.py test_sources_bad.py"),
        ("sources/columns.py", "if hasattr(source, name))", ")", "a slot that was never set", "test_sources_columns.py"),
        ("sources/columns.py", 'if not name.startswith("_"))', ")", "private attributes as columns", "test_sources_columns.py test_sources_records.py"),
        ("column_checks.py", "ndim > len(inner) and ", "", "four words are one record", "test_vertex_words.py"),
        ("column_checks.py", "column.dtype.itemsize < 4 or ", "", "bytes are taken for words", "test_vertex_words.py"),
        ("inferring.py", "shape and (vector :=", "False and (vector :=", "no vector formats in classes of dtypes", "test_struct_of_formats.py"),
        ("inferring.py", "make_struct(title, found, base=base)", "make_struct(title, found)", "struct_of forgets the base", "test_struct_of_formats.py"),
        ("column_checks.py", "!= inner[0] or nested:", "!= inner[0]:", "split columns in a split column", "test_sources_columns.py"),
        ("column_checks.py", "if leading_shape and leading_shape not in shapes:", "if False:", "parts that make a table", "test_sources_columns.py test_sources_bad.py test_columns.py"),
        ("sources/naming.py", "known = self.used | self.source.padding", "known = self.used", "padding of a structured array is an unknown column", "test_sources_columns.py"),
        ("sources/options.py", "if not isinstance(extra, str) or extra not in (\"refuse\", \"ignore\"):", "if False:", "any value of extra", "test_sources_bad.py"),
        ("sources/columns.py", "if \"\" in type(source).__members__:", "if False:", "a batch of numbers as named columns", "test_sources_bad.py test_sources_columns.py"),
        ("sources/columns.py", "if hasattr(source, \"__dlpack__\"):", "if False:", "a tensor as a buffer of records", "test_sources_bad.py test_sources_columns.py test_sources_tensors.py"),
        ("column_checks.py", "or column.shape[column.ndim - len(inner) :] != inner:", ":", "columns of another inner shape", "test_sources_bad.py"),
        ("column_checks.py", "if array.shape[max(array.ndim - len(inner) + 1, 0) :] != inner[1:]:", "if False:", "parts of another inner shape", "test_sources_bad.py test_sources_columns.py"),
    ],
    "views": [
        ("_views.pyx", "if step != 1:", "if False:", "slices with a step", "test_view_arrays.py"),
        ("_views.pyx", "min(count * self.stride, self.size - start * self.stride) if count", "count * self.stride if count", "a slice is longer than its bytes", "test_view_arrays.py"),
        ("_views.pyx", "if 0 <= k < self.count:", "if 0 <= k <= self.count:", "the record after the last", "test_view.py"),
        ("_views.pyx", "k - last > gap:", "k - last >= gap:", "changes exactly one gap apart are two ranges", "test_view.py"),
        ("_views.pyx", "last = k + 4 if k + 4 < length else length", "last = k + 4", "a change of the last half word is a range beyond the end", "test_view.py"),
        ("_views.pyx", "offset > owner.nbytes or member.size > owner.nbytes - offset:", "offset > owner.nbytes:", "a view longer than its bytes", "test_view.py::test_no_view_is_longer_than_its_bytes"),
        ("_views.pyx", "            return self\n        if not isinstance(record, Record) or (<Record>record).size < self.offset + self.size:", "            return self\n        if not isinstance(record, Record):", "a member read of another view", "test_view.py"),
        ("_views.pyx", "if flags & PyBUF_WRITABLE and not writable:", "if False:", "a writable buffer of a read-only view", "test_view.py"),
        ("_views.pyx", "if self.element.writer is not None and self.writable:", "if self.element.writer is not None:", "numbers of a read-only array are set", "test_view.py::test_no_element_of_read_only_bytes_is_set"),
        ("views/assigning.py", "or value.__shape__ != dims:", ":", "a batch of another shape", "test_view.py test_view_arrays.py"),
        ("views/assigning.py", "have not in (1, want)", "False", "a column of another length", "test_view_arrays.py"),
        ("views/changes.py", "if before is None or len(before) != now.nbytes:", "if before is None:", "a view of another size at the same place", "test_view.py"),
        ("views/changes.py", "if not any(start < offset + len(data)", "if not any(False and start < offset + len(data)", "bytes that an encoder writes later are known", "test_view.py gpu/test_views.py"),
        ("views/changes.py", "if stop <= k or k + len(v) <= start}", "if stop < k or k + len(v) < start}", "bytes beside a write are forgotten", "test_view.py"),
        ("views/updating.py", "scratch = copy.copy(record)", "scratch = record", "an update that fails changes some members", "test_view.py"),
        ("views/updating.py", "if target.readonly:", "if False:", "an update of a read-only view", "test_view.py"),
        ("views/__init__.py", "if memory.nbytes - offset < needed:", "if False:", "a view of bytes that are too few", "test_view.py"),
    ],
    "gpu": [
        ("gpu/scatter_shader.py", "batch[selection.sources], selection", "batch, selection", "records of a batch go to places of others", "gpu/test_packed_formats.py"),
        ("gpu/scatter_shader.py", "check_runs(pack_plan(batch), batch,", "check_runs(pack_plan(batch), batch[::-1],", "an error names a record of the selection", "gpu/test_packed_formats.py"),
        ("gpu/chunking.py", "missing = span.missing if start == span.stop else 0", "missing = span.missing", "padding is missing after each chunk", "gpu/test_upload.py::test_fills_cover_every_byte_once"),
        ("gpu/chunking.py", "at = round_up(LINE, at) + target % 4", "at = round_up(LINE, at)", "records and buffer differ in their place in a word", "gpu/test_upload.py"),
        ("gpu/transfers.py", "if end % 4:", "if False:", "half a word after the records", "gpu/test_upload.py"),
        ("gpu/transfers.py", "(end // 4 * 4, 2, copy.source", "(end // 4 * 4, 0, copy.source", "the wrong half of a word is kept", "gpu/test_upload.py"),
        ("gpu/transfers.py", "must_check = len(plans) > 1 and any(", "must_check = False and any(", "a buffer is half written", "gpu/test_upload.py"),
        ("gpu/packer.py", "if not part.streamable and stride > part.run.size:", "if False:", "old bytes between dynamic offsets", "gpu/test_records.py"),
        ("gpu/packer.py", "or (kind == \"i\" and size == 2)", "or (kind == \"i\" and size <= 4)", "i32 to f16 is not checked first", "gpu/test_upload.py::test_dtypes_that_always_fit_are_not_checked"),
        ("gpu/writing.py", "sent.remember(offset, copy)", "pass", "views are always sent whole", "gpu/test_views.py gpu/test_frames.py"),
        ("gpu/readback.py", "records_in(layout, buffer.size // 4 * 4 - offset)", "records_in(layout, buffer.size - offset)", "records that end in half a word", "gpu/test_upload.py::test_records_that_end_in_half_a_word_are_not_read"),
        ("gpu/readback.py", "if size <= chunk.size <= max(4096, 4 * size)", "if chunk.size <= max(4096, 4 * size)", "a chunk that is too small is used again", "gpu/test_upload.py::test_a_read_takes_memory_that_is_large_enough"),
        ("gpu/readback.py", "while sum(spare.size for spare in self._spare) >", "while False and sum(spare.size for spare in self._spare) >", "chunks of reads are kept without bound", "gpu/test_upload.py::test_memory_that_reads_keep_is_bounded"),
        ("gpu/frames.py", "in reversed(self._rollbacks):", "in self._rollbacks:", "a buffer resized twice in a dropped frame", "gpu/test_frames.py::test_a_buffer_resized_twice_in_a_dropped_frame"),
        ("gpu/frames.py", "if write == end:", "if True:", "writes that are not contiguous become one", "gpu/test_frames.py"),
        ("gpu/frames.py", "found[low - at : high - at] = bytes(high - low)", "pass", "half a word after a clear", "gpu/test_frames.py::test_half_a_word_that_a_clear_comes_before"),
        ("gpu/records.py", "max(self._count, int(selection.targets.max()) + 1)", "int(selection.targets.max()) + 1", "a write to some records shortens the count", "gpu/test_records.py::test_random_operations"),
        ("gpu/records.py", "count = min(self._count, number)", "count = self._count", "a count above the new capacity", "gpu/test_records.py::test_random_operations"),
        ("gpu/selection.py", "np.append(targets[1:] != targets[:-1], True)", "np.append(True, targets[1:] != targets[:-1])", "the first of several records for one index wins", "gpu/test_records.py::test_random_operations"),
    ],
    "report": [
        ("report/smaller_formats.py", "rounding=ROUND_CEILING", "rounding='ROUND_FLOOR'", "a change is said smaller", "test_smaller_formats.py"),
        ("report/smaller_formats.py", "4 if core.rows == 3 else core.rows", "core.rows", "no formats for three numbers", "test_smaller_formats.py"),
        ("report/smaller_formats.py", "fewer.saved == variant.saved", "False", "changes that save nothing", "test_smaller_formats.py"),
        ("report/variants.py", "if legal_in_uniform(variant) or not uniform:", "if True:", "a hint that is illegal in uniform", "test_smaller_formats.py"),
    ],
    "csrc": [
        ("csrc/scatter_block.c", "n = bad; /* a later", "/* a later", "a later fault hides an earlier one", "test_kernel.py::test_the_first_bad_value_is_named"),
        ("csrc/gather.c", "if (bad < 0 || (status->record >= 0 && index + bad >= status->record)) continue;", "if (bad < 0) continue;", "the last of several faults on the way back", "test_kernel_limits.py::test_the_first_of_several_faults_on_the_way_back"),
        ("csrc/gather.c", "index + bad >= status->record", "index + bad > status->record", "the later member of one record on the way back", "test_kernel_limits.py::test_the_first_of_several_faults_on_the_way_back"),
        ("csrc/gather.c", "run_steps(&c, index, first + done, n - done,", "run_steps(&c, index, first + done, done ? 0 : n,", "the remainder of four on the way back", "test_kernel_limits.py::test_every_number_of_records_comes_back"),
        ("csrc/mask.c", "if (head > bytes) head = bytes;", "", "the head of few masked records", "test_kernel_limits.py::test_a_range_of_masked_records_shorter_than_a_line"),
        ("csrc/mask.c", "whole = gap == 0 ? n :", "whole = gap >= 0 ? n :", "masks read after the last value", "test_kernel_limits.py"),
        ("csrc/mask.c", "if (s->mask.readable % 8) memcpy", "if (0) memcpy", "the last scalar of a mask of odd words", "test_kernel_limits.py"),
        ("csrc/scatter_block.c", "after >= INTERLEAVE_REACH ? 0 : INTERLEAVE_REACH - after", "0", "wide reads after the last record", "test_kernel_limits.py::test_no_column_is_read_past_its_last_scalar"),
        ("csrc/x86_slots.h", "load_12(a + (n - 1) * sa)", "load_16(a + (n - 1) * sa)", "the last vec3 is read as 16 bytes", "test_kernel_limits.py::test_no_column_is_read_past_its_last_scalar"),
        ("csrc/column_streams.c", "written_bytes(plan, k) == step", "step > 0", "columns with gaps are streamed", "test_kernel_limits.py::test_bytes_between_the_values_of_a_column_stay"),
        ("csrc/pool.c", "if (j->status.record < 0 || status.record < j->status.record)", "", "the first fault of several threads", "test_threads.py"),
        ("csrc/convert_loop.h", "(rest == tie && (kept & 1))", "rest == tie", "ties of halves", "test_kernel.py::test_halves_round_as_the_reference_does"),
        ("csrc/convert_loop.h", "x > (HIGH))\n#define BETWEEN", "x >= (HIGH))\n#define BETWEEN", "the largest unsigned integer that fits", "test_vertex_scalars.py"),
        ("csrc/convert_strided.c", "return (x << 32) | (x >> 32);", "return x;", "64-bit scalars of the other byte order", "test_kernel.py::test_every_conversion"),
        ("csrc/convert_normalized.h", "((x) < -1 ? -1 : (x))", "(x)", "the second integer that means -1", "test_vertex_scalars.py"),
        ("csrc/interleave4.c", "if (step != 0 && step != 2 * bytes) return found;", "", "f64 columns with gaps between records in lanes", "test_kernel_limits.py::test_wide_columns_with_gaps_between_records"),
        ("csrc/scatter.c", "    if (overflow) *found = scatter_check(c, p->first, done, stride);\n    if (found->record", "    if (found->record", "a bad value where lines start inside a record", "test_kernel.py::test_a_bad_value_is_named_wherever_lines_start"),
        ("csrc/isa_portable.c", "if (rows == 3) memset(slot + 12, 0, 4);", "", "padding of a mat3", "test_kernel.py::test_sizes_around_the_blocks"),
    ],
}  # fmt: skip

MUTANTS = [
    Mutant(area, file if file.startswith("csrc/") else f"src/gpustruct/{file}", *row)
    for area, rows in _ROWS.items()
    for file, *row in rows
]
