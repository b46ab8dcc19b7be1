"""gpustruct inspect: what a shader or a Python schema declares, how it lies in memory, what would be smaller."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import CommandError, WgslError
from ..layout import Layout
from ..report.offsets import HEADING, PADDING, RIGHT
from . import inputs, interface_data, interface_tables, shaders

if TYPE_CHECKING:
    from ..wgsl import Module
    from ..wgsl.targets import TargetName
    from .printing import Printer

FORMAT = 1


class Seen(NamedTuple):
    """One input: its name, its structs in order, and the module if it is a shader."""

    name: str
    structs: dict[str, Any]
    module: Module | None
    differences: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``gpustruct inspect``."""
    inputs.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, as docs/inspect.schema.json describes it")
    parser.add_argument("--svg", metavar="DIR", help="write a picture of each struct into this folder")
    parser.epilog = (
        "examples:\n"
        "  gpustruct inspect shader.wgsl\n"
        "  gpustruct inspect shaders\n"
        "  gpustruct inspect --struct Camera --svg pictures shader.wgsl\n"
        "  gpustruct inspect --json shaders/*.wgsl | jq '.inputs[].bindings'\n"
        "  gpustruct inspect scene.types:Camera"
    )


def main(args: argparse.Namespace) -> int:
    """Run ``gpustruct inspect``: 0, 1 where a text is no legal WGSL, 2 where an input cannot be read."""
    seen, code = look_at_all(args)
    if args.struct:
        seen = [
            part._replace(structs={args.struct: part.structs[args.struct]})
            for part in seen
            if args.struct in part.structs
        ] or _no_struct(args.struct, seen)
    if args.svg:
        _write_pictures(Path(args.svg), seen)
    if args.json:
        print(
            json.dumps({"format": FORMAT, "inputs": [as_data(part, whole=not args.struct) for part in seen]}, indent=2)
        )
        return code
    from .printing import Printer

    printer = Printer()
    for index, part in enumerate(seen):
        if index:
            printer.line()
        _show(printer, part, titled=len(seen) > 1, whole=not args.struct)
    return code


def _no_struct(name: str, seen: list[Seen]) -> list[Seen]:
    known = ", ".join(struct for part in seen for struct in part.structs) or "none"
    raise CommandError.of("struct-missing", name=name, where=", ".join(part.name for part in seen), known=known)


def look_at_all(args: argparse.Namespace) -> tuple[list[Seen], int]:
    """Every input that can be read, and the exit code for those that cannot; raises CommandError if none can."""
    code = 0
    seen: list[Seen] = []
    refused: CommandError | None = None
    for path in [path for argument in args.inputs for path in inputs.files(argument)]:
        try:
            seen.append(look_at(path, skip=args.skip, target=args.target))
        except WgslError as error:
            print(f"{path}:{error.line}:{error.column}: {error.rule}: {error}", file=sys.stderr)
            code = code or 1
        except CommandError as error:
            if refused is not None:
                print(f"gpustruct: {refused}", file=sys.stderr)
            refused, code = error, 2
    if refused is not None and not seen:
        raise refused
    if refused is not None:
        print(f"gpustruct: {refused}", file=sys.stderr)
    return seen, code


def look_at(argument: str, *, skip: bool = False, target: TargetName = "spec") -> Seen:
    """Read and parse one input. Raises CommandError, WgslError.

    A shader is read as if uniform had no rules of its own, so that what breaks them can be looked at.
    """
    if inputs.is_schema(argument):
        cls = inputs.schema(argument)
        return Seen(argument, {cls.__name__: cls}, None, [])
    name, text = inputs.read(argument)
    shader = shaders.read(text, name, skip=skip, target=target)
    if shader.error is not None:
        raise shader.error
    assert shader.module is not None
    return Seen(name, dict(shader.module.structs), shader.module, [str(warning) for warning in shader.warnings])


def _write_pictures(folder: Path, seen: list[Seen]) -> None:
    from ..report import diagram

    try:
        folder.mkdir(parents=True, exist_ok=True)
        stems = [Path(part.name).stem.replace(":", ".").strip("<>") for part in seen]
        for part, stem in zip(seen, stems, strict=True):
            if stems.count(stem) > 1:
                # Files of one name in several folders.
                stem = ".".join(Path(part.name).with_suffix("").parts).strip("./")
            stem = "" if len(seen) == 1 else f"{stem}."
            for name, cls in part.structs.items():
                (folder / f"{stem}{name}.svg").write_text(diagram(cls), encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CommandError.of("folder-write", reason=reason, name=os.fspath(folder)) from None


# For people.


def _show(printer: Printer, seen: Seen, *, titled: bool, whole: bool) -> None:
    from ..report import suggest

    if titled:
        printer.line(seen.name, "bold underline")
    if whole and seen.module is not None:
        _show_module(printer, seen)
    for index, cls in enumerate(seen.structs.values()):
        if index or titled or (whole and seen.module is not None and seen.module.bindings):
            printer.line()
        show_layout(printer, cls.__layout__)
        if cls.__layout__.kind != "struct":
            continue
        for line in str(suggest(cls)).splitlines():
            verdict = not line.startswith(" ")
            if not verdict or "no order is smaller" not in line:
                printer.line(line.strip(), "green" if verdict else "", "  " if verdict else "    ")
    if whole and seen.module is not None and seen.module.skipped:
        printer.line()
        printer.line("skipped", "bold")
        for skipped in seen.module.skipped:
            printer.line(str(skipped), "dim", "  ")


def show_layout(printer: Printer, layout: Layout) -> None:
    """The offset table of one layout, with its notes."""
    printer.line(layout.summary(), "bold")
    rows = list(layout.rows_of_table())
    printer.table(HEADING, rows, RIGHT, [row[4].startswith(PADDING) for row in rows])
    for note in layout.notes():
        printer.line(note, "dim" if note.startswith(("uniform: legal", "uniform: no,")) else "yellow", "  ")


def _show_module(printer: Printer, seen: Seen) -> None:
    module = seen.module
    assert module is not None
    has_bindings = interface_tables.bindings(printer, module)
    if not has_bindings and not seen.structs:
        printer.line("nothing here is host-shareable: no struct, no binding", "yellow")
    interface_tables.entry_points(printer, module)
    interface_tables.overrides(printer, module)
    for line in _remarks(seen):
        printer.line(line, "yellow", "  ")


def _remarks(seen: Seen) -> Iterator[str]:
    module = seen.module
    assert module is not None
    for name, reason in module.unavailable.items():
        yield f"{name}: {reason}"
    yield from seen.differences


# For programs.


def as_data(seen: Seen, *, whole: bool = True) -> dict[str, Any]:
    """One input as plain data, the way docs/inspect.schema.json describes it."""
    data: dict[str, Any] = {"name": seen.name, "structs": [struct_data(cls) for cls in seen.structs.values()]}
    module = seen.module
    if not whole or module is None:
        return data
    data |= interface_data.of(module)
    data["unavailable"] = dict(module.unavailable)
    data["skipped"] = [{"line": s.line, "text": s.text, "reason": s.reason} for s in module.skipped]
    data["differences"] = seen.differences
    return data


def struct_data(cls: Any) -> dict[str, Any]:
    """The layout of one type and what would be smaller, as plain data; every number is bytes."""
    layout: Layout = cls.__layout__
    unused = layout.size - layout.used
    data: dict[str, Any] = {
        "name": layout.name,
        "size": layout.size,
        "align": layout.align,
        "stride": layout.stride,
        "header": layout.header,
        "runtime_sized": layout.is_runtime_sized,
        "min_binding_size": layout.min_binding_size,
        "unused": unused,
        "members": [
            {
                "name": member.name,
                "type": member.type,
                "offset": member.offset,
                "size": None if member.layout.is_runtime_array else member.size,
                "align": member.align,
            }
            for member in layout.fields
        ],
        "padding": [{"offset": gap.offset, "size": gap.size} for gap in layout.padding],
        "uniform": [{"rule": fault.rule, "message": str(fault)} for fault in layout.uniform_faults()],
        "naga": layout.naga_notes(),
        "suggestion": None,
        "hints": [],
    }
    if layout.kind == "struct":
        from ..report import suggest

        found = suggest(cls)
        data["hints"] = [
            {"rule": hint.rule, "members": list(hint.members), "text": hint.text, "saved": hint.saved}
            for hint in found.hints
        ]
        if found:
            data["suggestion"] = {
                "order": list(found.order),
                "bytes_before": found.bytes_before,
                "bytes_after": found.bytes_after,
                "proven": found.proven,
            }
    return data
