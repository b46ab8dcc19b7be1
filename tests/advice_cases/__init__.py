"""The cases of test_advice.py: what is wrong, and what the message says to type instead."""

from __future__ import annotations

import contextlib
import functools
import io
import types as python_types
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import wgpu

import gpustruct
from gpustruct import cli, types
from gpustruct.formats import FORMATS

from .case import Case
from .commands import COMMANDS, COMMANDS_NOTHING
from .gpu import GPU, GPU_NOTHING
from .layout import LAYOUT, LAYOUT_NOTHING
from .program import PROGRAMS
from .sources import SOURCES, SOURCES_NOTHING
from .texts import TEXTS, TEXTS_NOTHING
from .vertex import CASES as VERTEX

CASES: list[Case] = [*LAYOUT, *SOURCES, *GPU, *COMMANDS, *TEXTS, *PROGRAMS, *VERTEX]
# Rules whose message has nothing to type at its end, and why.
NOTHING_TO_TYPE: dict[str, str] = {
    **LAYOUT_NOTHING,
    **SOURCES_NOTHING,
    **GPU_NOTHING,
    **COMMANDS_NOTHING,
    **TEXTS_NOTHING,
    "LayoutError vertex-stride": "which members go to another buffer is the author's choice",
    "LayoutError vertex-attributes": "which attributes go is the author's choice",
}


@functools.cache
def new_device(number: int) -> Any:
    return wgpu.gpu.request_adapter_sync().request_device_sync()


def command(*arguments: str) -> None:
    """One command line, its error raised and not printed."""
    args = cli.build_parser(arguments[0]).parse_args(arguments)
    with contextlib.redirect_stdout(io.StringIO()):
        cli.module_of(cli.COMMANDS[args.command][0]).main(args)


def scope() -> dict[str, Any]:
    """The names that the code of a case may use. It runs as a separate module, like a user's."""
    names = {name: getattr(gpustruct, name) for name in gpustruct.__all__}
    module = python_types.ModuleType("advice")
    vars(module).update(names)
    vars(module).update(Path=Path, Annotated=Annotated, Literal=Literal, np=np, gpustruct=gpustruct)
    vars(module).update(make_struct=types.make_struct, wgsl=gpustruct.wgsl, vertex=gpustruct.vertex)
    formats = {made.__name__: made for made in FORMATS.values()}
    vars(module).update(formats, Vertex=gpustruct.vertex.Vertex)
    vars(module).update(device=new_device(0), other=lambda: new_device(1), command=command)
    return vars(module)
