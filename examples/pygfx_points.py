"""A new kind of pygfx object: structs in a storage buffer, and a uniform that is a struct as well.

pygfx sends the packed batch to the device, and the shader reads it as `array<Spark>`. The material's uniform is a
`view`, whose memory pygfx shares: to change it, set a member and call `update_full`.

    python examples/pygfx_points.py --save pygfx_points.png
"""

from typing import Any

import numpy as np
import pygfx as gfx
import window
from pygfx.renderers.wgpu import BaseShader, Binding, register_wgpu_render_function

from gpustruct import Struct, f32, pack, vec3f, view, wgsl


class Spark(Struct):
    position: vec3f
    size: f32
    color: vec3f


class Look(Struct):
    time: f32


SHADER = (
    "{$ include 'pygfx.std.wgsl' $}\n"
    + wgsl.declare(Spark, Look)
    + """
@group(0) @binding(2) var<storage, read> sparks: array<Spark>;
@group(0) @binding(3) var<uniform> look: Look;

@vertex
fn vs_main(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Varyings {
    let spark = sparks[instance];
    let corner = vec2f(f32(vertex & 1u), f32(vertex >> 1u)) * 2.0 - 1.0;
    let center = u_stdinfo.cam_transform * u_wobject.world_transform * vec4f(spark.position, 1.0);
    var varyings: Varyings;
    varyings.position = vec4<f32>(u_stdinfo.projection_transform * (center + vec4f(corner * spark.size, 0.0, 0.0)));
    varyings.corner = vec2<f32>(corner);
    varyings.color = vec3<f32>(spark.color * (0.5 + 0.3 * sin(look.time + f32(instance))));
    return varyings;
}

@fragment
fn fs_main(varyings: Varyings) -> FragmentOutput {
    var out: FragmentOutput;
    out.color = vec4f(varyings.color * pow(max(0.0, 1.0 - length(varyings.corner)), 2.0), 1.0);
    return out;
}
"""
)


class Sparks(gfx.WorldObject):
    """What is drawn. Its `geometry.sparks` holds the packed records."""


class SparkMaterial(gfx.Material):
    def __init__(self) -> None:
        super().__init__(alpha_mode="add")
        self.look = view(Look)
        self.look_buffer = gfx.Buffer(self.look)


@register_wgpu_render_function(Sparks, SparkMaterial)
class SparkShader(BaseShader):
    type = "render"

    def get_bindings(self, wobject: Any, shared: Any, scene: Any) -> dict[int, dict[int, Binding]]:
        standard = Binding("u_stdinfo", "buffer/uniform", shared.uniform_buffer)
        world = Binding("u_wobject", "buffer/uniform", wobject.uniform_buffer)
        self.define_bindings(0, {0: standard, 1: world})  # pygfx declares these two; SHADER declares the structs
        sparks = Binding("sparks", "buffer/read_only_storage", wobject.geometry.sparks, "VERTEX")
        look = Binding("look", "buffer/uniform", wobject.material.look_buffer, "VERTEX")
        return {0: {0: standard, 1: world, 2: sparks, 3: look}}

    def get_pipeline_info(self, wobject: Any, shared: Any) -> dict[str, str]:
        return {"primitive_topology": "triangle-strip", "cull_mode": "none"}

    def get_render_info(self, wobject: Any, shared: Any) -> dict[str, Any]:
        return {"indices": (4, wobject.geometry.sparks.nitems)}

    def get_code(self) -> str:
        return SHADER


def sunflower(count: int) -> Spark:
    """A ball of points as far apart as seeds in a sunflower, in float64 as numpy makes it."""
    along, turn = np.linspace(-1, 1, count), np.pi * (3 - np.sqrt(5)) * np.arange(count)
    ring = np.sqrt(1 - along**2)
    position = np.stack([ring * np.cos(turn), along, ring * np.sin(turn)], axis=-1)
    color = 0.5 + 0.5 * np.cos(2.4 * along[:, None] + np.array([1, 3.1, 5.2]))
    return Spark(position=position, size=(1.6 + 0.8 * np.sin(0.1 * turn)) / np.sqrt(count), color=color)


def main() -> None:
    options = window.arguments(__doc__, count=2500, frames=1)
    sparks = gfx.Buffer(pack(sunflower(options.count)), nitems=options.count)
    ball = Sparks(gfx.Geometry(sparks=sparks), material := SparkMaterial())
    scene = gfx.Scene().add(gfx.Background.from_color("#05060a"), ball)
    camera = gfx.PerspectiveCamera(46)
    camera.local.z = 2.7
    renderer = gfx.WgpuRenderer(canvas := window.canvas(options))

    def draw(frame: int) -> None:
        material.look.time = 0.05 * frame
        material.look_buffer.update_full()
        ball.local.euler = (0.5, 0.01 * frame, 0)
        renderer.render(scene, camera)

    window.animate(canvas, draw, options)


if __name__ == "__main__":
    main()
