"""The compiled parts of gpustruct: Cython modules, and the C in csrc. All else is in pyproject.toml."""

import os
import sys
from glob import glob
from typing import Any

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

# Instruction sets are chosen per function, by attributes in the C, and at import: no flag here may
# name one, or the wheel would crash on an older processor. Loops are worth -O3 in csrc alone; Python's
# own flags ask for debug information, which doubles the time that a build takes.
KERNEL, OTHERS = ["-O3", "-g0", "-std=c11"], ["-O2", "-g0", "-std=c11"]
link_args: list[str] = []
if sys.platform == "win32":
    KERNEL = OTHERS = []
elif os.environ.get("GPUSTRUCT_SANITIZE") == "1":
    link_args = ["-fsanitize=address,undefined"]
    KERNEL = OTHERS = ["-std=c11", "-O1", "-g", "-fno-omit-frame-pointer", *link_args]


def extension(name: str, compile_args: list[str], *sources: str) -> Extension:
    options: dict[str, Any] = {
        "include_dirs": ["csrc", "src/gpustruct", numpy.get_include()],
        "define_macros": [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        "depends": sorted([*glob("csrc/*.h"), *glob("src/gpustruct/*.h"), *glob("src/gpustruct/*.pxd")]),
    }
    sources = (f"src/gpustruct/{name}.pyx", *sources)
    return Extension(
        f"gpustruct.{name}", [*sources], extra_compile_args=compile_args, extra_link_args=link_args, **options
    )


# The C is linked into _kernel alone; the others reach it through _kernel.pxd.
kernel = extension("_kernel", KERNEL, *sorted(glob("csrc/*.c")))
others = [extension(name, OTHERS) for name in ("_batches", "_binding", "_numbers", "_records", "_views")]

setup(
    ext_modules=cythonize([kernel, *others], build_dir="build/cython", language_level=3, quiet=True),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
