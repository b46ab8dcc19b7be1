"""From spans to slots of 16 bytes, copies and zeros, which write each byte of a record once."""

from __future__ import annotations

from collections.abc import Iterator

from .. import _kernel
from .steps import NO_COLUMN, Lowering, Span, Step, copy, follows, from_columns, merge_spans, zero

# A step has bits for this many bytes of a record.
MASK_BYTES = 3 * 64 * 4


def assemble(lowering: Lowering, size: int, looped: bool) -> None:
    """Turn the spans into slots, copies and zeros, which write each byte of a record once."""
    if looped:
        # Loops do not write the gaps between their scalars, where other members may be.
        lowering.body.insert(0, zero(0, size))
    slots: dict[int, list[Span]] = {}
    spans = merge_spans(lowering.spans)
    for whole in spans if looped else _mask(lowering, spans, size):
        for span in _split_at_slots(whole):
            if span.size >= 16 and span.record_offset % 16 == 0:
                lowering.body.append(copy(span))
                lowering.written.append((span.record_offset, span.end))
            else:
                slots.setdefault(span.record_offset // 16 * 16, []).append(span)
    for at, spans in slots.items():
        slot = None if looped or at + 16 > size or _overlaps(lowering.written, at) else _slot(at, spans)
        if slot is None:
            lowering.body += [copy(span) for span in spans]
            lowering.written += [(span.record_offset, span.end) for span in spans]
        else:
            lowering.body.append(slot)
            lowering.written.append((at, at + 16))
    if not looped:
        end = 0
        for start, stop in [*sorted(lowering.written), (size, size)]:
            if start > end:
                lowering.body.append(zero(end, start))
            end = max(end, stop)


def _mask(lowering: Lowering, spans: list[Span], size: int) -> list[Span]:
    """One step for whole slots, if one column has the bytes of packed records; returns the spans that are left.

    The column's padding may be anything: the step reads it and writes zeros. The last record may end with its last
    member, so the step says how much of it can be read.
    """
    if len(spans) < 2 or lowering.written:
        return spans
    column, start, end = spans[0].column, spans[0].record_offset, spans[-1].end
    shift = spans[0].column_offset - start
    stop = min(size if size % 16 == 0 else end // 16 * 16, start + MASK_BYTES)
    same = all(span.column == column and span.column_offset - span.record_offset == shift for span in spans)
    words = all(span.record_offset % 4 == span.size % 4 == 0 for span in spans)
    if not same or not words or start % 16 or stop - start < 32 or column >= lowering.columns:
        return spans
    keep = [0, 0, 0]
    for span in spans:
        for at in range(span.record_offset, min(span.end, stop), 4):
            unit = (at - start) // 4
            keep[unit // 64] |= 1 << unit % 64
    step: Step = {"kind": _kernel.STEP_MASK, "record_offset": start, **from_columns(column, offsets=(start + shift,))}
    readable = min(end, stop) - start
    lowering.body.append(step | {"mask.bytes": stop - start, "mask.readable": readable, "mask.keep": keep})
    lowering.written.append((start, stop))
    rest = [span for span in spans if span.end > stop]
    return [Span(stop, span.end - stop, column, stop + shift) if span.record_offset < stop else span for span in rest]


def _overlaps(written: list[tuple[int, int]], at: int) -> bool:
    """Whether a step writes a part of this slot already, such as the last column of a mat3x2."""
    return any(start < at + 16 and at < stop for start, stop in written)


def _split_at_slots(span: Span) -> Iterator[Span]:
    """The bytes before the first whole slot, all whole slots, and the rest: one span each."""
    at, size, column, offset = span
    head = min(size, -at % 16)
    whole = (size - head) // 16 * 16
    for start, length in ((0, head), (head, whole), (head + whole, size - head - whole)):
        if length:
            yield Span(at + start, length, column, offset + start)


_SHAPES = {
    (1, 1): _kernel.SLOT_8_8,
    (1, 2): _kernel.SLOT_8_4_4,
    (2, 1): _kernel.SLOT_4_4_8,
    (2, 2): _kernel.SLOT_4_4_4_4,
}


def _slot(at: int, spans: list[Span]) -> Step | None:
    """The slot at `at`, with zeros where no span is; None if a span is not a multiple of 4 bytes."""
    units = [Span(at + 4 * k, 4, NO_COLUMN, 0) for k in range(4)]
    for span in spans:
        if span.record_offset % 4 or span.size % 4:
            return None
        for k in range(0, span.size, 4):
            unit = span.record_offset + k
            units[(unit - at) // 4] = Span(unit, 4, span.column, span.column_offset + k)
    joined = _join_units(units)
    if joined[0].size == 12 and joined[0].column != NO_COLUMN:
        shape, pieces = _kernel.SLOT_12_4, [joined[0], units[3]]
    else:
        low, high = _join_units(units[:2]), _join_units(units[2:])
        shape, pieces = _SHAPES[len(low), len(high)], low + high
    columns, offsets = [piece.column for piece in pieces], tuple(piece.column_offset for piece in pieces)
    return {
        "kind": _kernel.STEP_SLOT,
        "record_offset": at,
        "slot.shape": shape,
        **from_columns(*columns, offsets=offsets),
    }


def _join_units(units: list[Span]) -> list[Span]:
    joined = [units[0]]
    for unit in units[1:]:
        last = joined[-1]
        if follows(last, unit) or last.column == unit.column == NO_COLUMN:
            joined[-1] = last._replace(size=last.size + unit.size)
        else:
            joined.append(unit)
    return joined
