"""Types as Python sees them: classes, fields, batches, pickles, annotations as text, and what a checker says."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import os
import pickle
import pydoc
import re
import rlcompleter
import subprocess
import sys
import textwrap
import typing
import warnings
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpustruct
import reference
import strategies
from gpustruct import (
    SourceError,
    Struct,
    align,
    array,
    atomic,
    f32,
    i32,
    layout_of,
    mat4x4f,
    pack,
    size,
    types,
    u32,
    vec3f,
    vec4f,
)

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "gpustruct"


class Light(Struct):
    color: vec4f
    radius: Annotated[f32, size(16)]


class Scene(Struct):
    ambient: Annotated[vec3f, align(32)]
    lights: array[Light, 4]


class Lights(Struct):
    count: atomic[u32]
    lights: array[Light]


# Classes and fields.


def test_a_field_says_where_it_is() -> None:
    field = Light.radius
    assert (field.name, field.type, field.offset, field.size, field.align) == ("radius", f32, 16, 16, 4)
    assert repr(field) == "<Field Light.radius: f32, offset=16, size=16, align=4>"
    assert Scene.ambient.align == 32


def test_types_print_as_they_are_written() -> None:
    assert repr(array[Light, 4]) == "array[Light, 4]"
    assert repr(array[Light]) == "array[Light]"
    assert repr(atomic[u32]) in ("atomic[u32]", "atomic<u32>")
    assert repr(mat4x4f) == "mat4x4f"


def test_equal_parameters_give_one_class() -> None:
    assert array[f32, 8] is array[f32, Literal[8]]
    assert array[f32, 8] is array[f32, np.int64(8)]
    assert array[array[f32, 8], 2] is array[array[f32, 8], 2]
    assert atomic[u32] is atomic[u32]
    assert array[f32, 8] is not array[f32, 9]


def test_attributes_never_stand_in_for_each_other() -> None:
    # typing keeps one Annotated for all parameters that compare equal.
    class Sized(Struct):
        a: Annotated[f32, size(32)]
        b: f32

    class Aligned(Struct):
        a: Annotated[f32, align(32)]
        b: f32

    assert (Sized.b.offset, layout_of(Sized).align) == (32, 4)
    assert (Aligned.b.offset, layout_of(Aligned).align) == (4, 32)
    assert align(16) == align(16)
    assert align(16) != size(16)
    assert align(16) != align(16.0)  # type: ignore[arg-type]
    assert repr([align(16), size(8)]) == "[align(16), size(8)]"


def test_a_member_may_have_any_name_that_wgsl_allows() -> None:
    class Odd(Struct):
        size: f32
        offset: f32
        pack: vec3f
        fields: u32
        mro: u32
        Δt: f32

    batch = Odd(size=1, offset=2, pack=(1, 2, 3), fields=4, mro=6, Δt=7)
    assert [float(getattr(batch, name)) for name in ("size", "offset", "fields", "mro", "Δt")] == [1, 2, 4, 6, 7]
    assert Odd.Δt.offset == reference.leaves(Odd)[".Δt"][0]


def test_a_type_holds_still() -> None:
    with pytest.raises(AttributeError, match="Light is a finished type"):
        Light.power = f32  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="Light is a finished type"):
        del Light.radius
    with pytest.raises(AttributeError, match="vec3f is a finished type"):
        vec3f.x = 1  # type: ignore[attr-defined]


def test_inheritance_puts_the_base_first() -> None:
    class Sun(Light):
        heat: f32

    class Star(Sun):
        name: u32

    assert list(Star.__members__) == ["color", "radius", "heat", "name"]
    assert (Star.radius.offset, Star.heat.offset, Star.name.offset) == (16, 32, 36)
    assert layout_of(Star).name == "Star"
    star = Star(color=(1, 1, 1, 1), radius=1, heat=[1, 2], name=3)
    assert isinstance(star, Light)
    assert len(star) == 2
    assert star.color.shape == (2, 4)


def test_methods_and_properties_may_stand_beside_members() -> None:
    class Disc(Struct):
        radius: f32
        UNIT = 3

        @property
        def area(self) -> Any:
            return np.pi * self.radius**2

    assert list(Disc.__members__) == ["radius"]
    assert Disc(radius=[1.0, 2.0]).area.tolist() == [np.pi, 4 * np.pi]


# Annotations as text: this module has `from __future__ import annotations`.


def test_text_annotations_in_a_function() -> None:
    class Inner(Struct):
        position: vec3f
        mark: Annotated[u32, align(32)]

    class Outer(Struct):
        inner: array[Inner, 2]
        local: Annotated[Inner, align(64)]

    assert Outer.local.offset == 128
    assert layout_of(Outer).size == 192


def test_text_annotations_in_code_without_a_module() -> None:
    scope: dict[str, Any] = {"__name__": "nowhere.at.all", "Struct": Struct, "vec3f": vec3f}
    code = "from __future__ import annotations\nclass P(Struct):\n    position: vec3f\n"
    exec(compile(code, "<text>", "exec", dont_inherit=True), scope)
    assert layout_of(scope["P"]).size == 16


def test_annotations_without_the_future_import() -> None:
    scope: dict[str, Any] = {"Struct": Struct, "vec3f": vec3f, "array": array}
    code = """
    def make():
        class Inner(Struct):
            position: vec3f
        def deeper():
            class Outer(Struct):
                inner: array[Inner, 2]
            return Outer
        return deeper()
    """
    exec(compile(textwrap.dedent(code), "<text>", "exec", dont_inherit=True), scope)
    assert layout_of(scope["make"]()).size == 32


# Batches.


def test_columns_are_held_by_reference() -> None:
    colors, radii = np.zeros((5, 4)), np.arange(5)
    batch = Light(color=colors, radius=radii)
    assert np.shares_memory(batch.color, colors)
    assert np.shares_memory(batch.radius, radii)
    assert batch.radius.dtype == radii.dtype
    colors[2, 1] = 7
    assert batch.color[2, 1] == 7


def test_leading_dimensions_broadcast() -> None:
    batch = Light(color=(1, 2, 3, 4), radius=np.ones((2, 3)))
    assert batch.color.shape == (2, 3, 4)
    assert batch.color.strides[:2] == (0, 0)
    assert len(batch) == 2


def test_indexing_gives_batches_that_share_memory() -> None:
    radii = np.arange(10.0)
    batch = Light(color=np.ones(4), radius=radii)
    assert batch[2:8:3].radius.tolist() == [2, 5]
    assert batch[-1].radius == 9
    assert batch[[3, 1]].radius.tolist() == [3, 1]
    assert batch[radii > 7].radius.tolist() == [8, 9]
    assert batch[...].radius.tolist() == radii.tolist()
    one = batch[4]
    assert one.radius.shape == ()
    one.radius[...] = 44
    assert radii[4] == 44
    assert [float(each.radius) for each in batch[:3]] == [0, 1, 2]
    with pytest.raises(IndexError, match="out of bounds"):
        batch[10]


def test_indexing_over_two_dimensions_and_nested_batches() -> None:
    lights = Light(color=np.ones(4), radius=np.arange(24.0).reshape(2, 3, 4))
    scene = Scene(ambient=np.ones(3), lights=lights)
    assert len(scene) == 2
    assert scene[1].lights.radius.tolist() == np.arange(12.0, 24).reshape(3, 4).tolist()
    assert scene[:, 2].lights.radius.shape == (2, 4)
    assert scene[1, 2].lights[3].radius == 23
    assert scene[np.array([[True, False, True], [False, True, False]])].lights.radius.shape == (3, 4)


@pytest.mark.parametrize("index", ["radius", None, (0, 0), (slice(None), slice(None)), (..., ...)])
def test_an_index_that_is_none_says_so(index: Any) -> None:
    with pytest.raises(IndexError, match="a batch is indexed over its 1 batch dimensions"):
        Light(color=np.ones(4), radius=np.arange(3))[index]


def test_a_single_record_has_no_length() -> None:
    with pytest.raises(TypeError, match="a single record has no length"):
        len(Light(color=np.ones(4), radius=1))
    assert bool(Light(color=np.ones(4), radius=1))
    assert bool(Light(color=np.ones((0, 4)), radius=1))


def test_columns_stay_as_they_were_given() -> None:
    batch = Light(color=np.ones(4), radius=1)
    with pytest.raises(
        AttributeError, match=r"make a new batch, or write into the column: batch.radius\[\.\.\.\] = value"
    ):
        batch.radius = 2
    with pytest.raises(AttributeError):
        batch.power = 2


def test_repr_names_shape_and_columns() -> None:
    scene = Scene(ambient=np.ones((2, 3), np.float32), lights={"color": np.ones(4), "radius": np.ones((2, 4))})
    assert repr(scene).split("\n") == [
        "batch of Scene: 2 records",
        "  ambient  vec3f            float32 (2, 3)",
        "  lights   array[Light, 4]  batch of shape (2, 4)",
    ]
    assert repr(vec3f([1.0, 2, 3])) == "batch of vec3f: 1 record, float64 (3,)"
    assert repr(u32(np.zeros((2, 5), np.int8))) == "batch of u32: records of shape (2, 5), int8 (2, 5)"
    assert (
        repr(vec3f(([1, 2], np.ones(2), 0))) == "batch of vec3f: 2 records, float64 (2, 3), an array for each component"
    )


def test_repr_of_a_wide_struct_is_bounded(tmp_path: Path) -> None:
    np.zeros(3, np.float32).tofile(tmp_path / "m0")
    columns: dict[str, Any] = {f"m{k}": np.zeros(3) for k in range(200)}
    columns["m0"] = np.memmap(tmp_path / "m0", np.float32, "r")[::-1]
    lines = repr(types.make_struct("Wide", dict.fromkeys(columns, f32))(**columns)).split("\n")
    assert lines[0] == "batch of Wide: 3 records"
    assert lines[1].split(maxsplit=2) == ["m0", "f32", "float32 (3,), in a file"]
    assert lines[-1] == "  ... 184 more members"
    assert len(lines) == 18
    few = {name: columns[name] for name in list(columns)[:17]}
    assert len(repr(types.make_struct("Few", dict.fromkeys(few, f32))(**few)).split("\n")) == 18


def test_plain_batches_are_arrays() -> None:
    values = np.arange(6.0).reshape(2, 3)
    assert np.shares_memory(np.asarray(vec3f(values)), values)
    assert np.asarray(vec3f(values), np.float32).dtype == np.float32
    batch = Light(color=vec4f(np.ones((2, 4))), radius=f32([1, 2]))
    assert len(batch) == 2
    with pytest.raises(TypeError, match="a batch of Light is not one array"):
        np.asarray(batch)


def test_a_masked_array_without_masked_values_is_an_array() -> None:
    assert f32(np.ma.masked_array([1.0, 2.0], mask=[False, False])).__columns__[0].tolist() == [1, 2]


def test_a_tail_keeps_its_length() -> None:
    lights = Lights(count=3, lights=Light(color=np.ones((7, 4)), radius=1))
    assert len(lights.lights) == 7
    assert lights.count.shape == ()
    with pytest.raises(IndexError, match="index the tail member instead"):
        lights[0]


@given(strategies.types().flatmap(lambda cls: strategies.batches(cls, special=False)))
def test_pickled_batches_and_types_come_back(batch: Any) -> None:
    back = pickle.loads(pickle.dumps(batch))
    assert repr(type(back)) == repr(type(batch))
    assert layout_of(back) == layout_of(batch)
    assert reference.pack(back) == reference.pack(batch)


def test_pickled_classes_of_a_module_are_the_same_class() -> None:
    for cls in (Light, vec3f, array[Light, 4], array[Light], atomic[i32], mat4x4f):
        assert pickle.loads(pickle.dumps(cls)) is cls


def test_a_class_of_a_function_pickles_as_another_of_the_same_layout() -> None:
    class Local(Struct):
        a: f32

        def twice(self) -> Any:
            return self.a * 2

    again, batch = pickle.loads(pickle.dumps((Local, Local(a=1))))
    assert again is not Local
    assert again is type(batch)
    assert layout_of(again) == layout_of(Local)
    assert not hasattr(again, "twice")


def test_a_batch_is_pickled_into_another_process() -> None:
    cls = types.make_struct("Local", {"a": Annotated[f32, align(16)], "b": array[vec3f, 2]})
    data = pickle.dumps(cls(a=[1, 2], b=np.ones((2, 2, 3))))
    code = f"import pickle; b = pickle.loads({data!r}); print(type(b).a.align, len(b), b.b.shape)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "16 2 (2, 2, 3)\n"


@given(st.data())
def test_a_wrong_shape_never_becomes_a_batch(data: Any) -> None:
    cls = data.draw(st.sampled_from(sorted(types.PLAIN_TYPES.values(), key=repr)))
    shape = tuple(data.draw(st.lists(st.integers(0, 5), max_size=4)))
    inner = cls.__layout__.shape
    fits = shape[len(shape) - len(inner) :] == inner and len(shape) >= len(inner)
    if fits:
        assert cls(np.zeros(shape, int)).__shape__ == shape[: len(shape) - len(inner)]
    else:
        with pytest.raises(SourceError):
            cls(np.zeros(shape, int))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_fields_pickle(protocol: int) -> None:
    for field in (Light.radius, Scene.lights, Lights.count):
        again = pickle.loads(pickle.dumps(field, protocol))
        assert repr(again) == repr(field)
        assert again.type is field.type
    assert copy.deepcopy(Light.radius).offset == Light.radius.offset
    batch = Light(color=np.ones((2, 4)), radius=[1, 2])
    assert again.__get__(Lights(count=3, lights=batch)) == 3


def test_a_finished_type_keeps_what_it_has() -> None:
    for name in (
        "__layout__",
        "__members__",
        "__columns__",
        "__shape__",
        "__pack_plan__",
        "__orig_bases__",
        "radius",
        "x",
    ):
        with pytest.raises(AttributeError, match="Light is a finished type"):
            setattr(Light, name, 3)
    with pytest.raises(AttributeError, match="vec3f is a finished type"):
        vec3f.__layout__ = layout_of(f32)
    with pytest.raises(AttributeError, match="Light is a finished type"):
        Light.radius = Light.color


def test_a_batch_keeps_what_it_has() -> None:
    batch = Light(color=np.ones((2, 4)), radius=[1, 2])
    for name in ("__columns__", "__shape__", "__pack_plan__", "__unpack_plan__", "radius", "unknown"):
        with pytest.raises(AttributeError):
            setattr(batch, name, 3)
        with pytest.raises(AttributeError):
            delattr(batch, name)
    assert pack(batch).tobytes() == reference.pack(batch)


def test_class_variables_are_no_members() -> None:
    class Constants(Struct):
        a: f32
        most: ClassVar[int] = 3
        unset: typing.ClassVar

        def twice(self) -> Any:
            return self.a * 2

    assert Constants.most == 3
    assert [member.name for member in layout_of(Constants).fields] == ["a"]
    assert Constants(a=2).twice() == 4


def test_a_name_that_only_looks_mangled_is_a_name() -> None:
    assert types.make_struct("X", {"_X__b": f32})._X__b.offset == 0


def test_what_a_batch_hands_out_is_not_what_it_holds() -> None:
    for batch, take in (
        (Light(color=np.ones((4, 4)), radius=np.arange(4.0)), lambda batch: batch.radius),
        (f32(np.arange(4.0)), np.asarray),
    ):
        expected = reference.pack(batch)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of numpy, for setting them
            take(batch).dtype = "f4"
            take(batch).shape = (2, 2)
        assert take(batch).shape == (4,)
        assert pack(batch).tobytes() == expected
    column = np.arange(4.0)
    batch = f32(column)
    np.asarray(batch)[1] = 7
    assert column[1] == 7


# What a type checker says.


def checked(folder: Path) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["generalDiagnostics"]


def test_reveal_type() -> None:
    expected: dict[int, tuple[str, str]] = {}
    for number, line in enumerate((HERE / "typing" / "reveal.py").read_text().split("\n")):
        if match := re.search(r"  # (error: )?(.+)$", line):
            expected[number] = ("error" if match[1] else "information", match[2])
    told: dict[int, tuple[str, str]] = {}
    for diagnostic in checked(HERE / "typing"):
        # strict.py stands beside it, and nothing is wrong there.
        assert Path(diagnostic["file"]).name == "reveal.py", diagnostic
        message = diagnostic["message"].split("\n")[0]
        if match := re.fullmatch(r'Type of ".*" is "(.+)"', message):
            # numpy's releases spell these differently.
            message = re.sub(r"ndarray\[.*, dtype\[(.+)\]\]", r"NDArray[\1]", match[1])
            message = message.replace("unsignedinteger[_8Bit]", "uint8")
        told[diagnostic["range"]["start"]["line"]] = (diagnostic["severity"], message)
    assert len(expected) >= 30
    assert told.keys() == expected.keys()
    for number, (severity, message) in expected.items():
        assert told[number][0] == severity
        if severity == "error":
            assert told[number][1].startswith(message)
        else:
            assert told[number][1] == message


def test_mypy_takes_every_annotation_as_it_is_documented() -> None:
    file = HERE / "typing" / "strict.py"
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# What an editor, a prompt and `help` show.


class Disc(Struct):
    """A flat thing."""

    center: vec3f
    radius: f32
    lights: array[Light, 2]

    def area(self) -> Any:
        """The area of each."""
        return 3 * self.radius**2


class Wheel(Disc):
    speed: f32


def shown_by_help(thing: Any) -> list[str]:
    return pydoc.render_doc(thing, renderer=pydoc.plaintext).split("\n")  # type: ignore[attr-defined]


def test_the_signature_has_the_members() -> None:
    assert list(inspect.signature(Wheel).parameters) == ["center", "radius", "lights", "speed"]
    for parameter in inspect.signature(Disc).parameters.values():
        assert (parameter.kind, parameter.default) == (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty)
    assert inspect.signature(Disc).parameters["lights"].annotation is array[Light, 2]
    assert str(inspect.signature(vec3f)) == str(inspect.signature(array[f32, 4])) == "(column, /)"
    assert str(inspect.signature(Light)) == "(*, color: gpustruct.vec4f, radius: gpustruct.f32)"
    assert inspect.signature(Disc).bind(center=1, radius=2, lights=3).kwargs == {"center": 1, "radius": 2, "lights": 3}


def test_the_signature_of_names_that_python_keeps() -> None:
    made = types.make_struct("Odd", {"lambda": f32, "x": f32, "in": f32})
    assert str(inspect.signature(made)) == "(*, x: gpustruct.f32, **columns)"
    assert made(**{"lambda": 1, "x": 2, "in": 3}).x == 2


@pytest.mark.parametrize("thing", [Struct, array, types.TypeBase, types.TypeMeta, types.StructMeta])
def test_the_signature_of_what_has_no_members_is_that_of_its_code(thing: Any) -> None:
    if isinstance(thing, types.TypeMeta):
        assert "columns" in inspect.signature(thing).parameters
    else:
        assert shown_by_help(thing)


def test_a_prompt_completes_the_members() -> None:
    # What the standard prompt and IPython go by.
    assert dir(Disc) == ["area", "center", "lights", "radius"]
    assert dir(Wheel) == ["area", "center", "lights", "radius", "speed"]
    assert dir(vec3f) == []
    completer = rlcompleter.Completer({"Disc": Disc, "gpustruct": gpustruct})
    assert completer.attr_matches("Disc.ra") == ["Disc.radius"]
    assert completer.attr_matches("gpustruct.mat4x4") == ["gpustruct.mat4x4f(", "gpustruct.mat4x4h("]


def test_help_of_a_struct_shows_its_own_members_only() -> None:
    text = shown_by_help(Wheel)
    assert len(text) < 50
    for line in (" |      vec3f at offset 0, size 12, align 16", " |      f32 at offset 12, size 4, align 4"):
        assert line in text
    assert " |  Wheel: size 96, align 16, stride 96. print(layout_of(Wheel)) shows its offsets." in text
    assert " |      The area of each." in text
    assert not [line for line in text if "__" in line]
    assert " |  A flat thing." in shown_by_help(Disc)
    assert "    f32 at offset 12, size 4, align 4" in shown_by_help(Disc.radius)
    assert any("One member of a Struct class" in line for line in shown_by_help(gpustruct.Field))


def test_help_of_a_type_is_short() -> None:
    for name in types.PLAIN_TYPES:
        assert len(shown_by_help(getattr(gpustruct, name))) < 20
    assert " |  vec3f: size 12, align 16, stride 16. print(layout_of(vec3f)) shows its offsets." in shown_by_help(vec3f)


def test_help_of_the_package_fits_in_a_few_screens() -> None:
    text = "\n".join(shown_by_help(gpustruct))
    assert text.count("\n") < 120
    # Every public function stands in the overview.
    for name in ("layout_of", "batch", "pack", "unpack", "view", "uniform_safe", "diagram", "suggest", "dtype_of"):
        assert f"{name}(" in text


def test_the_package_lists_public_names_only() -> None:
    names = dir(gpustruct)
    assert set(names) == {*gpustruct.__all__, "gpu", "vertex", "wgsl", "__version__"}
    for name in names:
        assert getattr(gpustruct, name) is not None


def test_a_star_import_has_every_public_name() -> None:
    scope: dict[str, Any] = {}
    exec("from gpustruct import *", scope)
    assert set(scope) - {"__builtins__"} == set(gpustruct.__all__)


def names_of(file: Path) -> set[str]:
    found: set[str] = set()
    body = ast.parse(file.read_text()).body
    body += [inner for node in body if isinstance(node, ast.If) for inner in (*node.body, *node.orelse)]
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return {name for name in found if not name.startswith("_") and name != "MYPY"}


def test_the_stub_names_what_the_module_has() -> None:
    stub, own = names_of(SOURCE / "types.pyi"), names_of(SOURCE / "types.py")
    # The module is also the way to names of the modules above it.
    assert own <= stub <= own | vars(types).keys()
    assert set(types.PLAIN_TYPES) <= set(gpustruct.__all__)
