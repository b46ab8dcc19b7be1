"""What the build makes: Cython modules, the C in csrc, the parser's tables. All else is in pyproject.toml."""

import os
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path
from typing import Any

import numpy
from Cython.Build import cythonize
from setuptools import Command, Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

# Instruction sets are chosen per function, by attributes in the C, and at import: no flag here may name one, or the wheel
# would crash on an older processor. Only the loops in csrc gain from -O3. Cython's code mostly calls Python: -O1 compiles it
# in 0.6 of the time of -O2, and -Os makes it slower. Python's own flags ask for debug information, which doubles the time of a
# build. Only debuggers and C++ exceptions read unwind tables.
CYTHON = ["-O1", "-g0", "-std=c11", "-fvisibility=hidden", "-fno-asynchronous-unwind-tables"]
CSRC = ["-O3"]
# Without symbols a module has half the size.
link_args = ["-Wl,-x"] if sys.platform == "darwin" else ["-Wl,-s"]
if sys.platform == "win32":
    CYTHON = CSRC = link_args = []
elif os.environ.get("GPUSTRUCT_SANITIZE") == "1":
    link_args = ["-fsanitize=address,undefined"]
    CYTHON, CSRC = ["-std=c11", "-O1", "-g", "-fno-omit-frame-pointer", *link_args], []
elif os.environ.get("GPUSTRUCT_COVERAGE") == "1":
    link_args = ["--coverage"]
    CYTHON, CSRC = ["-std=c11", "-O0", "-g", *link_args], []


def extension(name: str, *sources: str) -> Extension:
    options: dict[str, Any] = {
        "include_dirs": ["csrc", "src/gpustruct", numpy.get_include()],
        "define_macros": [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        "depends": sorted([*glob("csrc/*.h"), *glob("src/gpustruct/*.h"), *glob("src/gpustruct/*.pxd")]),
    }
    sources = (f"src/gpustruct/{name}.pyx", *sources)
    return Extension(f"gpustruct.{name}", [*sources], extra_compile_args=CYTHON, extra_link_args=link_args, **options)


# The C is linked into _kernel alone; the others reach it through _kernel.pxd.
kernel = extension("_kernel", *sorted(glob("csrc/*.c")))
others = [extension(name) for name in ("_batches", "_binding", "_numbers", "_records", "_structs", "_views")]


class BuildTables(Command):
    """Saves the tables of the WGSL parser beside its grammar: making them takes longer than all else of a first parse."""

    description = "save the tables of the WGSL parser"
    user_options = [("build-lib=", "d", "the folder to build to")]
    build_lib = ""
    editable_mode = False

    def initialize_options(self) -> None:
        self.build_lib, self.editable_mode = "", False

    def finalize_options(self) -> None:
        self.build_lib = self.build_lib or self.get_finalized_command("build").build_lib

    def run(self) -> None:
        for path in map(Path, self.get_outputs()):
            path.parent.mkdir(parents=True, exist_ok=True)
            runpy.run_path("src/gpustruct/wgsl/tables.py")["save"](path)

    def get_outputs(self) -> list[str]:
        return [f"{'src' if self.editable_mode else self.build_lib}/gpustruct/wgsl/grammar.tables"]

    def get_source_files(self) -> list[str]:
        return ["src/gpustruct/wgsl/grammar.lark", "src/gpustruct/wgsl/tables.py"]

    def get_output_mapping(self) -> dict[str, str]:
        return {}


class BuildExtensions(build_ext):
    """Compiles as many files at a time as there are cores, and names each: ``pip install -v`` shows them."""

    def build_extensions(self) -> None:
        compiler: Any = self.compiler
        # Python may pass on the folder of its own libraries as an rpath. That folder may not exist where a wheel is
        # installed, and our modules need no library from it.
        if hasattr(compiler, "linker_so"):
            compiler.linker_so = [part for part in compiler.linker_so if not part.startswith("-Wl,-rpath")]
        compile_files, jobs = compiler.compile, ThreadPoolExecutor(self.parallel or 1)

        def compile_one(source: str, options: dict[str, Any]) -> list[str]:
            print("compiling", source, flush=True)
            if Path(source).parent.name == "csrc":
                options = {**options, "extra_postargs": [*(options["extra_postargs"] or []), *CSRC]}
            return compile_files([source], **options)

        def compile_all(sources: list[str], **options: Any) -> list[str]:
            results = [jobs.submit(compile_one, source, options) for source in sources]
            return [name for result in results for name in result.result()]

        compiler.compile = compile_all
        with jobs:
            super().build_extensions()


build.sub_commands = [*build.sub_commands, ("build_tables", None)]

setup(
    cmdclass={"build_ext": BuildExtensions, "build_tables": BuildTables},
    ext_modules=cythonize(
        [kernel, *others],
        build_dir="build/cython",
        # Without "binding", functions are of the plain type of built-in functions, and a seventh of the code goes.
        compiler_directives={"language_level": 3, "freethreading_compatible": True, "binding": False},
        quiet=True,
    ),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
