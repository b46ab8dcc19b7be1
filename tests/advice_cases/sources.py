"""The ways out of SourceError."""

from __future__ import annotations

from .case import Case, struct

PARTICLE = struct("position: vec3f", "life: f32", head="class P(Struct):")
BODY = PARTICLE + struct("id: u32", "p: P", head="class Body(Struct):")
TAIL = struct("count: u32", "values: array[f32]", head="class T(Struct):")
OUTER = struct("r: f32", "c: vec3f", head="class R(Struct):") + "r, c = np.ones((100, 1)), np.ones((100, 3))\n"
SWARM = PARTICLE + struct("n: u32", "ps: array[P]", head="class Swarm(Struct):")
FIVE = PARTICLE + "five = P(position=np.ones((5, 3)), life=np.ones(5))\n"
SOURCE = PARTICLE.replace("{", "{{") + "source = {}\n@@"
SPARE = struct("life: f32", "extra: f32", head="class Q(Struct):") + "source = {'life': np.ones(2)}\n"
# More records than any memory or disk has bytes for.
ENORMOUS = PARTICLE + "path, batch = 'p.bin', P(position=np.ones(3), life=np.broadcast_to(np.float32(1), (2**58,)))\n@@"
ROWS = (
    PARTICLE
    + """
class Rows:
    def __len__(self):
        return 2**58
    def __iter__(self):
        return iter(())
    def __getitem__(self, at):
        return [{'position': (1, 2, 3), 'life': 4}] if isinstance(at, slice) else 5
source = Rows()
batch(P, @@)"""
)
# Stands for a column that the user holds, under the name that messages give it.
COLUMN = "column = {}\npack(f32(@@))"


def numbers(kind: str, held: str, advice: str) -> Case:
    """A column, and what the message says to make of it."""
    return Case("SourceError column-dtype", f"column = {held}\npack({kind}(@@))", "column", advice)


SOURCES = [
    Case("SourceError columns-missing", PARTICLE + "P(position=np.ones(3)@@)", "", "and no other: position, (life)", ", life='@@' and 1"),
    Case("SourceError column-size", PARTICLE + "P(position=np.ones(3), life=np.broadcast_to(np.float32(1), @@)).position", "2**60", "give the batch fewer records", "5"),
    Case("SourceError column-memory", COLUMN.format("range(2**58)"), "column", "less at a time: (.+)"),
    Case("SourceError records-memory", ROWS, "source", "fewer at a time: (.+)"),
    Case("SourceError pack-memory", ENORMOUS, "pack(batch)", r"a part at a time: (pack\(.+?\)), or"),
    Case("SourceError pack-memory", TAIL + "pack(T(count=1, values=np.broadcast_to(np.float32(1), @@)))", "2**58", "give its runtime-sized array fewer elements", "3"),
    Case("SourceError file-disk", ENORMOUS, "pack_to(path, batch)", r"a part at a time: (pack_to\(.+\))"),
    Case("SourceError columns-missing", "vec3f(@@)", "", r"(vec3f\(column\))", "'@@' and np.ones(3)"),
    Case("SourceError columns-unknown", PARTICLE + "P(position=np.ones(3), life=1@@)", ", speed=2", "and no other: position, life", ""),
    Case("SourceError columns-unknown", PARTICLE + "P(@@)", "np.ones(3), 1", "and no other: (position, life)", "**dict(zip('@@'.split(', '), (np.ones(3), 1)))"),
    Case("SourceError columns-unknown", SOURCE.format("{'k': 1, 'position': np.ones((2, 3)), 'life': 1}"), "batch(P, source)", r": (batch\(.+\))"),
    Case("SourceError extra-value", SPARE + "batch(Q, source, @@)", "extra=np.ones(2)", r"into the mapping: .+ (\{.+\})\)", "{**source, 'extra': np.ones(2)}", SPARE + "batch(Q, {**source, 'extra': np.ones(2)})"),
    Case("SourceError defaults-value", PARTICLE + "source = {'position': np.ones((2, 3)), 'life': 1}\nbatch(P, source, @@)", "defaults=3", "goes into the mapping", "defaults={'life': 3}"),
    Case("SourceError defaults-member", PARTICLE + "batch(P, {'position': np.ones((2, 3))}, defaults={'@@': 1})", "lifetime", "expected position, (life)"),
    Case("SourceError column-shape", "vec3f(np.ones(@@))", "(5, 2)", r"shape (\(n, 3\))", "eval('@@', {'n': 5})"),
    Case("SourceError column-shape", "array[vec2f, 4](np.ones(@@))", "(4,)", r"shape (\(n, 4, 2\))", "eval('@@', {'n': 5})"),
    Case("SourceError column-shape", "column = np.ones((7, 2, 3))\nmat2x3f(@@)", "column", r"pass (column\..+)"),
    Case("SourceError column-shape", TAIL + "T(count=1, values=np.ones(@@))", "()", r"shape (\(n,\))", "eval('@@', {'n': 5})"),
    Case("SourceError column-outer", OUTER + "R(r=@@, c=c)", "r", r"pass (r\.reshape\(-1\)), or"),
    Case("SourceError column-outer", OUTER + "R(r=@@, c=c)", "r", r", or (r\[:, 0\])"),
    Case("SourceError column-outer", OUTER.replace("(100, 3)", "(7, 3)") + "R(r=@@, c=c)", "r", r"pass (np\.broadcast_to.+)"),
    Case("SourceError matrix-flat", "a = np.ones((10, 16))\nmat4x4f(@@)", "a", r"reshape it: (a\.\S+ -?\d, \d\)|a\.reshape\(.+?\)) if"),
    Case("SourceError matrix-flat", "a = np.ones((10, 6))\nmat2x3f(@@)", "a", r"row after row, (.+) if column after column"),
    Case("SourceError column-outer", PARTICLE + "life = np.ones((5, 1))\nP(position=np.ones((5, 3)), life=@@)", "life", r"(life[\.\[]\S+)"),
    Case("SourceError column-broadcast", PARTICLE + "P(position=np.ones((5, 3)), life=np.ones(@@))", "4", "the same leading dimensions", "5"),
    numbers("u32", "np.array([1.5])", "how to round: (.+)"),
    numbers("vec2i", "np.ones((4, 2), np.float32)", "how to round: (.+)"),
    numbers("f32", "np.array([1 + 2j])", "pick a part: (.+)"),
    numbers("f32", "np.array(['1.5'])", "convert it: (.+)"),
    numbers("u32", "np.array([b'3'])", "convert it: (.+)"),
    numbers("f32", "np.array(['2026-01-01'], 'datetime64[D]')", "a unit: (.+)"),
    numbers("f32", "np.array([5], 'timedelta64[s]')", "a unit: (.+)"),
    numbers("f32", "np.array([1, 2.5], object)", "convert it: (.+)"),
    numbers("f32", "np.zeros(3, [('x', 'f4'), ('y', 'f4')])", "pick a field: (.+)"),
    numbers("f32", "np.zeros(3, 'V4')", "a number type: (.+)"),
    numbers("f32", "np.zeros(3, np.longdouble)", "convert it: (.+)"),
    Case("SourceError column-missing-value", COLUMN.format("np.ma.masked_array([1.0, 2.0], [False, True])"), "column", "first: (.+)"),
    Case("SourceError column-missing-value", "column = np.array([1, None], object)\npack(f32(@@))", "column", "first: (.+)"),
    Case("SourceError column-missing-value", "column = [1.0, None]\nf32(@@)", "column", "first: (.+)"),
    Case("SourceError column-missing-value", "f32([1.0, @@])", "np.ma.masked", "a number in its place|first: ", "0"),
    Case("SourceError column-masked", PARTICLE + "view(P).life = @@", "None", "a number in place of None", "0"),
    Case("SourceError column-masked", PARTICLE + "view(P).position = 1, @@, 2", "np.ma.masked", "a number in its place", "0"),
    Case("SourceError column-source", "vec3f(@@)", "[[1, 2, 3], [4, 5]]", "give an array of shape", "[[1, 2, 3], [4, 5, 6]]"),
    Case("SourceError column-source", "f32(@@)", "{1, 2}", "give an array of shape", "[1, 2]"),
    Case("SourceError column-nested", BODY + "Body(id=1, p=@@)", "np.ones((5, 3))", "pass a batch of (P), or", "@@(position=np.ones(3), life=1)"),
    Case("SourceError column-nested", BODY + "Body(id=1, p=@@)", "None", "or a mapping of (.+)", "dict(zip('@@'.split(', '), (np.ones(3), 1)))"),
    Case("SourceError column-missing-value", "import pandas as pd\nimport polars as pl\n" + struct("k: f32", head="class K(Struct):") + "k = pl.Series([1, None])\nbatch(K, {'k': @@})", "k", "first: (.+)"),
    Case("SourceError column-missing-value", "import pandas as pd\n" + struct("k: u32", head="class K(Struct):") + "k = pd.Series([1, None], dtype='Int64')\nbatch(K, {'k': @@})", "k", "first: (.+)"),
    Case("SourceError column-twice", "import pandas as pd\n" + struct("k: f32", head="class K(Struct):") + "batch(K, pd.DataFrame([[1, 2]], columns=['k', @@]))", "'k'", "rename one of them", "'j'", fixed=struct("k: f32", head="class K(Struct):") + "import pandas as pd\nbatch(K, pd.DataFrame([[1]], columns=['k']))"),
    Case("SourceError column-kind", "import polars as pl\n" + struct("k: u32", head="class K(Struct):") + "k = pl.Series(['1', '2'])\nbatch(K, {'k': @@})", "k", "convert it: (.+)"),
    Case("SourceError column-kind", "import pyarrow as pa\n" + struct("k: u32", head="class K(Struct):") + "k = pa.array(['1', '2'])\nbatch(K, {'k': @@})", "k", "convert it: (.+)"),
    Case("SourceError rename-member", PARTICLE + "batch(P, {'pos': np.ones((2, 3)), 'life': 1}, @@='pos')", "place", "one of (position), life"),
    Case("SourceError rename-column", PARTICLE + "batch(P, {'pos': np.ones((2, 3)), 'life': 1}, position=@@)", "'place'", "one of (pos), life", "'@@'"),
    Case("SourceError rename-value", PARTICLE + "batch(P, {'pos': np.ones((2, 3)), 'life': 1}, position=@@)", "3", "write", "'pos'"),
    Case("SourceError source-kind", PARTICLE + "batch(P, @@)", "3", ".", "{'position': np.ones((2, 3)), 'life': 1}"),
    Case("SourceError source-lazy", "import polars as pl\n" + struct("k: f32", head="class K(Struct):") + "source = pl.DataFrame({'k': [1.0]}).lazy()\nbatch(K, @@)", "source", r"compute it first: source(\.\S+\(\))|compute it first: (\S+)", "source.collect()"),
    Case("SourceError record-kind", PARTICLE + "batch(P, [@@])", "3", ".", "{'position': (1, 2, 3), 'life': 1}"),
    Case("SourceError record-members", SOURCE.format("[{'position': (1, 2, 3)}]"), "batch(P, source)", r": (batch\(.+\))"),
    Case("SourceError record-members", SOURCE.format("[{'position': (1, 2, 3), 'life': 1, 'k': 3}]"), "batch(P, source)", r": (batch\(.+\))"),
    Case("SourceError record-shape", PARTICLE + "batch(P, [{'position': @@, 'life': 1}])", "(1, 2)", "3 numbers", "(1, 2, 3)"),
    Case("SourceError record-length", BODY.replace("p: P", "p: array[P, 2]") + "q = {'position': (1, 2, 3), 'life': 1}\nbatch(Body, [{'id': 1, 'p': [@@]}])", "q", "give it a list of (2)", "*[q] * @@"),
    # Views.
    Case("SourceError view-type", "view(@@)", "3", "such as (mat4x4f)"),
    Case("SourceError view-data", "view(vec4f, @@)", "bytearray(3)", "such as (.+)"),
    Case("SourceError view-data", "view(mat4x4f, @@, 16)", "np.zeros(64, np.uint8)", "such as (.+)"),
    Case("SourceError view-count", "view(vec4f, count=@@)", "-1", ".", "1"),
    Case("SourceError view-readonly", "data = bytes(16)\nview(vec4f, @@)[...] = 1, 2, 3, 4", "data", "writable buffer: (.+)"),
    Case("SourceError view-update", PARTICLE + "view(P).update(@@)", "3", "pass (.+)", "(lambda value: @@)((1, 2, 3))"),
    Case("SourceError view-whole", "v = view(vec4f)\nv[@@]", "0", ".", "..."),
    Case("SourceError view-member", PARTICLE + "view(P).@@ = 1, 2, 3", "xposition", "did you mean '(.+)'"),
    Case("SourceError view-member", PARTICLE + "view(P).@@", "xyzzy", "use one of position, (life)"),
    # Values that do not fit.
    Case("SourceError range-integer", "column = np.array([1, -3])\npack(u32(@@))", "column", "first: (.+)"),
    Case("SourceError range-integer", "column = np.array([2**40, -(2**40)])\npack(i32(@@))", "column", "first: (.+)"),
    Case("SourceError range-integer", struct("id: u32", head="class K(Struct):") + "id = np.array([1.0, -3]).astype(int)\npack(K(id=@@))", "id", "first: (.+)"),
    Case("SourceError range-float", "column = np.array([1e300])\npack(f32(@@))", "column", "first: (.+)"),
    Case("SourceError range-float", "column = np.array([-7e4])\npack(f16(@@))", "column", "first: (.+)"),
    Case("SourceError tail-batch", TAIL + "T(count=@@, values=np.ones(5))", "[1, 2]", "without leading dimensions", "1"),
    Case("SourceError tail-shape", TAIL + "T(count=1, values=np.ones(@@))", "(5, 2)", "one leading dimension", "10"),
    # Functions and their arguments.
    *(Case("SourceError batch-abstract", "@@(np.ones(8))", wrong, r"(array\[f32, 8\])") for wrong in ("array", "atomic")),
    Case("SourceError batch-abstract", "@@(1)", "Struct", r"(atomic\[u32\])"),
    *(Case("SourceError batch-type", "array = np.ones(5)\npack(@@)", wrong, r"make one first: (f32\(array\))") for wrong in ("array", "None")),
    Case("SourceError batch-type", PARTICLE + "source = {'position': np.ones((3, 3)), 'life': 1}\npack(@@)", "source", r"or (batch\(T, source\))", "(lambda T: @@)(P)"),
    Case("SourceError file-path", "pack_to(@@, f32([1]))", "3", "such as ('.+')"),
    Case("SourceError file-path", "pack_to(@@, f32([1]))", "'a\\0b'", "such as ('.+')"),
    Case("SourceError file-kind", "pack_to(@@, f32([1]))", "'.'", "such as ('.+')"),
    Case("SourceError file-kind", "import os\npack_to(@@, f32([1]))", "os.devnull", "such as ('.+')"),
    Case("SourceError unpack-type", "unpack(@@, bytes(16))", "3", "Struct, (vec3f)"),
    Case("SourceError unpack-type", "unpack(@@, bytes(32))", "int", r"or (array\[f32, 8\])"),
    Case("SourceError uniform-safe-batch", struct("h: array[f32, 4]", head="class H(Struct):") + "source = {'h': np.ones(4)}\nuniform_safe(H)(@@)", "3", r"with (batch\(H, source\))"),
    Case("SourceError out-small", FIVE + "pack(five, out=np.empty(@@, np.uint8))", "64", r"allocate (\d+) bytes"),
    Case("SourceError out-small", FIVE + "pack(five, out=np.empty(@@, np.uint8), offset=16)", "80", r"allocate (\d+) bytes"),
    *(Case("SourceError out-buffer", FIVE + "pack(five, out=@@)", wrong, "use (.+)") for wrong in ("bytes(80)", "'text'", "np.empty(200, np.uint8)[::2]")),
    Case("SourceError out-columns", FIVE + "unpack(P, pack(five), out=P(position=np.ones((5, 3)), life=@@))", "1.0", r"of shape (\(5,\))", "np.ones(@@)"),
    Case("SourceError out-columns", FIVE + "unpack(P, pack(five)@@, out=P(position=np.ones((3, 3)), life=np.ones(3)))", "", "or pass (count=)", ", @@3"),
    Case("SourceError out-dtype", "unpack(f32, bytes(20), out=f32(np.zeros(5, @@)))", "np.int32", "column of (.+) or"),
    Case("SourceError out-dtype", "unpack(u32, pack(u32([1, 300])), out=u32(np.zeros(2, @@)))", "np.uint8", "column of (.+)"),
    Case("SourceError offset-value", FIVE + "pack(five, offset=@@)", "-16", "the byte at which the first record starts", "0"),
    *(Case("SourceError stride-value", FIVE + "pack(five, stride=@@)", wrong, r"use (\d+)") for wrong in ("8", "24", "-16", "'16'")),
    Case("SourceError stride-tail", TAIL + "pack(T(count=1, values=np.ones(3))@@)", ", stride=16", "leave stride out", ""),
    *(Case("SourceError threads-value", FIVE + "pack(five@@)", wrong, "leave it out", "") for wrong in (", threads=0", ", threads=0.5")),
    Case("SourceError count-value", "unpack(vec4f, bytes(32), count=@@)", "3", "fewer records", "2"),
    Case("SourceError data-buffer", "data = np.zeros(64, np.uint8)[::2]\nunpack(vec4f, @@)", "data", "use (.+)"),
    Case("SourceError data-size", "unpack(vec4f, bytes(24)@@)", "", "pass (count=) to read", ", @@1"),
    Case("SourceError data-small", TAIL + "unpack(T, bytes(@@))", "2", "pass the whole buffer", "8"),
    Case("SourceError batch-scalar", PARTICLE + "len(P(position=np.ones(@@), life=1))", "3", "give columns a leading dimension", "(1, 3)"),
    Case("SourceError batch-index", FIVE + "five[@@]", "0, 0", "at most 1 of them", "0"),
    Case("SourceError batch-index", FIVE + "five@@", "['life']", "use attributes for members", ".life"),
    Case("SourceError batch-assign", FIVE.replace("five", "batch") + "@@", "batch.life = 3", "the column: (.+) = value", "@@ = 3"),
]  # fmt: skip

SOURCES_NOTHING: dict[str, str] = {
    "SourceError column-device": "needs a GPU's tensor; tests/test_sources_tensors.py has its stand-ins",
}
