"""The one compiled part: gpustruct._kernel, Cython over the C in csrc. All else is in pyproject.toml."""

import os
import sys
from glob import glob
from typing import Any

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

# Instruction sets are chosen per function, by attributes in the C, and at import: no flag here may
# name one, or the wheel would crash on an older processor.
compile_args = [] if sys.platform == "win32" else ["-O3", "-std=c11"]
link_args: list[str] = []
if os.environ.get("GPUSTRUCT_SANITIZE") == "1":
    compile_args = ["-std=c11", "-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined"]
    link_args = ["-fsanitize=address,undefined"]

options: dict[str, Any] = {
    "include_dirs": ["csrc", numpy.get_include()],
    "define_macros": [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
    "extra_compile_args": compile_args,
    "extra_link_args": link_args,
}
kernel = Extension(
    "gpustruct._kernel",
    sources=["src/gpustruct/_kernel.pyx", *sorted(glob("csrc/*.c"))],
    depends=sorted([*glob("csrc/*.h"), *glob("src/gpustruct/*.px[id]")]),
    **options,
)
# The C is linked into the kernel alone; these reach it through _kernel.pxd.
others = [
    Extension(f"gpustruct.{name}", sources=[f"src/gpustruct/{name}.pyx"], depends=glob("csrc/*.h"), **options)
    for name in ("_batches", "_binding")
]

setup(ext_modules=cythonize([kernel, *others], build_dir="build/cython", language_level=3, quiet=True))
