"""gpustruct inspect: show the declarations of a shader or a Python schema, their layouts, and smaller ones."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
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
    """One input: its name, its structs in order, its module if it is a shader, and the warnings of parse."""

    name: str
    structs: dict[str, Any]
    module: Module | None
    differences: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``gpustruct inspect``."""
    inputs.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, as docs/inspect.schema.json describes it")
    parser.add_argument("--python", action="store_true", help="print Python: the structs as classes, and a Program")
    parser.add_argument("--svg", metavar="DIR", help="write a picture of each struct into this folder")
    parser.epilog = (
        "examples:\n"
        "  gpustruct inspect shader.wgsl\n"
        "  gpustruct inspect shaders\n"
        "  gpustruct inspect --struct Camera --svg pictures shader.wgsl\n"
        "  gpustruct inspect --python shader.wgsl > start.py\n"
        "  gpustruct inspect --json shaders/*.wgsl | jq '.inputs[].bindings'\n"
        "  gpustruct inspect scene.types:Camera"
    )


def main(args: argparse.Namespace) -> int:
    """Run ``gpustruct inspect``: 0, 1 if a text is not legal WGSL, 2 if an input cannot be read."""
    seen, code = look_at_all(args)
    if args.struct:
        seen = [
            part._replace(structs={args.struct: part.structs[args.struct]})
            for part in seen
            if args.struct in part.structs
        ] or _no_struct(args.struct, seen)
    if args.python:
        return _print_python(seen, code)
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


def _print_python(seen: list[Seen], code: int) -> int:
    from .program_sketch import sketch

    if len(seen) != 1 or seen[0].module is None:
        raise CommandError.of("python-input", current=", ".join(part.name for part in seen) or "none")
    sys.stdout.write(sketch(seen[0].module, seen[0].name))
    return code


def _no_struct(name: str, seen: list[Seen]) -> list[Seen]:
    known = ", ".join(struct for part in seen for struct in part.structs) or "none"
    raise CommandError.of("struct-missing", name=name, where=", ".join(part.name for part in seen), known=known)


def look_at_all(args: argparse.Namespace) -> tuple[list[Seen], int]:
    """Every input that can be read, and the exit code. Errors about the others are printed on stderr.

    Raises CommandError if no input can be read.
    """
    code = 0
    seen: list[Seen] = []
    unreadable: list[CommandError] = []
    for path in [path for argument in args.inputs for path in inputs.files(argument)]:
        try:
            seen.append(look_at(path, skip=args.skip, target=args.target))
        except WgslError as error:
            print(shaders.error_line(path, error), file=sys.stderr)
            code = code or 1
        except CommandError as error:
            unreadable.append(error)
            code = 2
    last = unreadable.pop() if unreadable and not seen else None
    for error in unreadable:
        print(f"gpustruct: {error}", file=sys.stderr)
    if last is not None:
        raise last
    return seen, code


def look_at(argument: str, *, skip: bool = False, target: TargetName = "spec") -> Seen:
    """Read and parse one input. Raises CommandError, WgslError.

    A type that is not legal in uniform does not raise an error here, so that its layout can be shown.
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
                # Several folders have a file of this name.
                stem = ".".join(Path(part.name).with_suffix("").parts).strip("./")
            stem = "" if len(seen) == 1 else f"{stem}."
            for name, cls in part.structs.items():
                (folder / f"{stem}{name}.svg").write_text(diagram(cls), encoding="utf-8")
    except OSError as error:
        raise CommandError.of("folder-write", reason=inputs.reason_of(error), name=os.fspath(folder)) from None


def _show(printer: Printer, seen: Seen, *, titled: bool, whole: bool) -> None:
    from ..report import suggest

    module = seen.module if whole else None
    if titled:
        printer.line(seen.name, "bold underline")
    if module is not None:
        _show_module(printer, module, seen)
    for index, cls in enumerate(seen.structs.values()):
        if index or titled or (module is not None and module.bindings):
            printer.line()
        show_layout(printer, cls.__layout__)
        if cls.__layout__.kind != "struct":
            continue
        for line in str(suggest(cls)).splitlines():
            verdict = not line.startswith(" ")
            if not verdict or "no order is smaller" not in line:
                printer.line(line.strip(), "green" if verdict else "", "  " if verdict else "    ")
    if module is not None and module.skipped:
        printer.line()
        printer.line("skipped", "bold")
        for skipped in module.skipped:
            printer.line(str(skipped), "dim", "  ")


def show_layout(printer: Printer, layout: Layout) -> None:
    """Print the offset table of one layout, with its notes."""
    printer.line(layout.summary(), "bold")
    rows = list(layout.rows_of_table())
    printer.table(HEADING, rows, RIGHT, [row[4].startswith(PADDING) for row in rows])
    for note in layout.notes():
        printer.line(note, "dim" if note.startswith(("uniform: legal", "uniform: no,")) else "yellow", "  ")


def _show_module(printer: Printer, module: Module, seen: Seen) -> None:
    has_bindings = interface_tables.bindings(printer, module)
    if not has_bindings and not seen.structs:
        printer.line("no host-shareable struct and no binding", "yellow")
    interface_tables.entry_points(printer, module)
    interface_tables.overrides(printer, module)
    for line in [*(f"{name}: {reason}" for name, reason in module.unavailable.items()), *seen.differences]:
        printer.line(line, "yellow", "  ")


def as_data(seen: Seen, *, whole: bool = True) -> dict[str, Any]:
    """One input as plain data, in the form that docs/inspect.schema.json describes."""
    data: dict[str, Any] = {"name": seen.name, "structs": [struct_data(cls) for cls in seen.structs.values()]}
    module = seen.module
    if not whole or module is None:
        return data
    data |= interface_data.of(module)
    data["unavailable"] = dict(module.unavailable)
    data["skipped"] = [asdict(part) for part in module.skipped]
    data["differences"] = seen.differences
    return data


def struct_data(cls: Any) -> dict[str, Any]:
    """The layout of one type and a smaller one, as plain data; every number is in bytes."""
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
        "padding": [gap._asdict() for gap in layout.padding],
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
