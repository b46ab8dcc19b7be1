"""Read by pyright only: each reveal_type must say what its comment says. See test_types.py."""

from typing import Annotated, Any, reveal_type

import numpy as np

from gpustruct import (
    Field,
    Layout,
    Struct,
    align,
    array,
    atomic,
    batch,
    f32,
    layout_of,
    mat4x4f,
    pack,
    pack_to,
    size,
    u32,
    unpack,
    vec3f,
    vec4f,
    view,
)
from gpustruct.gpu import RecordBuffer, ShardedBuffer, read_buffer
from gpustruct.vertex import Vertex, float16x2, float32x3, sint8x4, snorm8x4, snorm16x2, uint8x4, unorm8x4, unorm16x2
from gpustruct.vertex import layout as vertex_layout


class Camera(Struct):
    view: mat4x4f
    position: Annotated[vec3f, align(32)]


class Light(Struct):
    color: vec4f
    radius: Annotated[f32, size(16)]


class Scene(Struct):
    camera: Camera
    count: atomic[u32]
    weights: array[f32, 8]
    lights: array[Light, 4]
    grid: array[array[Light, 2], 3]


class Lights(Struct):
    ambient: vec3f
    lights: array[Light]


class Sun(Light):
    heat: f32


light = Light(color=(1, 1, 1, 1), radius=np.ones(10))
reveal_type(light)  # Light
reveal_type(light.color)  # NDArray[Any]
reveal_type(light[2:5])  # Light
reveal_type(len(light))  # int
reveal_type(next(iter(light)))  # Light
reveal_type(Light.color)  # Field
reveal_type(Light.color.offset)  # int
reveal_type(Light.color.size)  # int
reveal_type(Light.color.name)  # str
reveal_type(Light.__layout__)  # Layout
reveal_type(layout_of(Light))  # Layout
reveal_type(layout_of(light).padding[0].size)  # int

scene = Scene(
    camera={"view": np.eye(4), "position": [0, 0, 1]},
    count=[1, 2, 3],
    weights=np.zeros((3, 8)),
    lights=Light(color=np.ones((3, 4, 4)), radius=1.0),
    grid=Light(color=np.ones((3, 3, 2, 4)), radius=1.0),
)
reveal_type(scene.camera)  # Camera
reveal_type(scene.camera.position)  # NDArray[Any]
reveal_type(scene.count)  # NDArray[Any]
reveal_type(scene.weights)  # Any
reveal_type(scene.lights)  # Any
some: Light = scene.lights
reveal_type(some.radius)  # NDArray[Any]
reveal_type(scene.grid)  # Any
reveal_type(Scene.camera)  # Field
reveal_type(Scene.lights)  # Field

lights = Lights(ambient=(0, 0, 0), lights=light)
reveal_type(lights.lights)  # Any

sun = Sun(color=(1, 1, 1, 1), radius=1.0, heat=2.0)
reveal_type(sun.color)  # NDArray[Any]
reveal_type(sun)  # Sun

reveal_type(vec3f(np.ones((2, 3))))  # vec3f
reveal_type(vec3f(np.ones((2, 3)))[0])  # vec3f
reveal_type(array[f32, 4](np.ones(4)))  # array

data = pack(light, threads=1)
reveal_type(data)  # NDArray[uint8]
reveal_type(pack_to("lights.bin", light, progress=print))  # None
reveal_type(unpack(Light, data))  # Light
reveal_type(unpack(Light, data, count=3).color)  # NDArray[Any]
reveal_type(unpack(vec3f, data))  # vec3f
reveal_type(batch(Light, {"color": np.ones((3, 4)), "radius": 1}))  # Light
reveal_type(batch(Light, [], extra="ignore", defaults={"radius": 1}).color)  # NDArray[Any]
reveal_type(batch(vec3f, np.ones((3, 3))))  # vec3f
reveal_type(batch(array[Light, 4], {"color": np.ones((3, 4, 4)), "radius": 1}))  # array

device: Any = None
buffer = RecordBuffer(device, Light, 10)
reveal_type(buffer)  # RecordBuffer[Light]
reveal_type(buffer.read())  # Light
reveal_type(buffer.read(2, 5, out=light).color)  # NDArray[Any]
reveal_type(buffer.read_async().result())  # Light
reveal_type(buffer.type)  # type[Light]
reveal_type(buffer.count)  # int
reveal_type(RecordBuffer(device, vec3f, data=[[1, 2, 3]]).read())  # vec3f
reveal_type(RecordBuffer(device, array[Light]).read())  # Any
reveal_type(ShardedBuffer([device], Light, 10).read())  # Light
reveal_type(read_buffer(device, buffer, Light).radius)  # NDArray[Any]
reveal_type(read_buffer(device, buffer, array[Light]))  # Any

record = view(Light)
record.radius = 0.5
record.update(color=(1, 1, 1, 1))
reveal_type(record)  # Light
reveal_type(bytes(record))  # bytes
reveal_type(memoryview(record))  # memoryview[int]
reveal_type(view(Scene).camera.position)  # NDArray[Any]
reveal_type(view(Light, count=3))  # Any

field: Field = Light.radius
layout: Layout = layout_of(Scene)

# What must not pass.
Light(color=(1, 1, 1, 1))  # error: Argument missing for parameter "radius"
Light((1, 1, 1, 1), 1.0)  # error: Expected 0 positional arguments
Light(color=(1, 1, 1, 1), radius=1.0, size=3)  # error: No parameter named "size"
Light(color=Camera, radius=1.0)  # error: Argument of type "type[Camera]"
Scene(camera=light, count=1, weights=1, lights=light, grid=light)  # error: Argument of type "Light"
light.colour  # error: Cannot access attribute "colour"
Light.color.offsets  # error: Cannot access attribute "offsets"
view(Light).colour = np.ones(4)  # error: Cannot assign to attribute "colour"
view(Light).color = Camera  # error: Cannot assign to attribute "color"
buffer.read().colour  # error: Cannot access attribute "colour"
buffer.capacity = 3  # error: Cannot assign to attribute "capacity"
RecordBuffer(device, light)  # error: Argument of type "Light"


class Corner(Vertex):
    position: float32x3
    color: unorm8x4


corner = Corner(position=np.zeros((2, 3)), color=(1.0, 1, 1, 1))
reveal_type(corner)  # Corner
reveal_type(layout_of(Corner))  # Layout
reveal_type(unpack(Corner, pack(corner)))  # Corner
reveal_type(vertex_layout(Corner))  # dict[str, Any]
Corner(position=np.zeros((2, 3)))  # error: Argument missing for parameter "color"
corner.colour  # error: Cannot access attribute "colour"


class Packed(Struct):
    color: unorm8x4
    normal: Annotated[snorm8x4, align(16)]
    numbers: uint8x4
    signs: sint8x4
    place: unorm16x2
    turn: snorm16x2
    size: float16x2
    palette: array[unorm8x4, 8]
    tail: array[unorm8x4]


packed = Packed(
    color=(1.0, 1, 1, 1),
    normal=np.zeros((3, 4)),
    numbers=[1, 2, 3, 4],
    signs=0,
    place=(0.0, 1),
    turn=(0.0, -1),
    size=np.zeros((3, 2), np.float16),
    palette=np.zeros((8, 4), np.uint8),
    tail=unorm8x4(np.zeros((9, 4))),
)
reveal_type(packed)  # Packed
reveal_type(packed.color)  # NDArray[Any]
reveal_type(packed.normal)  # NDArray[Any]
reveal_type(packed.numbers)  # NDArray[Any]
reveal_type(packed.signs)  # NDArray[Any]
reveal_type(packed.place)  # NDArray[Any]
reveal_type(packed.turn)  # NDArray[Any]
reveal_type(packed.size)  # NDArray[Any]
reveal_type(packed.palette)  # Any
reveal_type(packed.tail)  # Any
reveal_type(Packed.color)  # Field
reveal_type(Packed.normal.offset)  # int
reveal_type(unpack(unorm8x4, pack(packed)))  # unorm8x4
reveal_type(unpack(Packed, pack(packed)))  # Packed
reveal_type(array[unorm8x4, 8](np.zeros((8, 4), np.uint8)))  # array
reveal_type(RecordBuffer(device, unorm8x4, data=unorm8x4([0.0, 0, 0, 1])).read())  # unorm8x4
reveal_type(RecordBuffer(device, Packed, 4).read_async().result().color)  # NDArray[Any]
one = view(Packed)
one.color = np.array([255, 0, 0, 255], np.uint8)
one.update(color=(1.0, 0, 0, 1), place=[0.5, 0.5])
one.color = Camera  # error: Cannot assign to attribute "color"
Packed(color=(1.0, 1, 1, 1))  # error: Arguments missing for parameters "normal"
packed.colour  # error: Cannot access attribute "colour"
