"""What the examples share: their options, and a loop that draws into a window or, with --save, into a PNG file."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rendercanvas.offscreen import OffscreenRenderCanvas

from gpustruct.gpu.devices import default_device

SIZE = (640, 400)
# A triangle over the whole window, whatever its size; `at` goes from 0 in the upper left to 1.
WHOLE = """
struct Corner { @builtin(position) place: vec4f, @location(0) at: vec2f }

@vertex fn whole(@builtin(vertex_index) i: u32) -> Corner {
    let at = vec2f(f32(i & 1u), f32(i >> 1u)) * 2.0;
    return Corner(vec4f(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0), at);
}
"""


def arguments(description: str | None, *, count: int, frames: int) -> argparse.Namespace:
    """The options of every example: --count, --save and --frames."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=count, help=f"how many things to draw (default {count:,})")
    parser.add_argument("--save", type=Path, metavar="PNG", help="draw without a window, and save the last frame here")
    parser.add_argument("--frames", type=int, default=frames, help=f"frames before --save saves (default {frames})")
    return parser.parse_args()


def canvas(options: argparse.Namespace) -> Any:
    """A window, or with --save a canvas without one."""
    if options.save:
        return OffscreenRenderCanvas(size=SIZE, pixel_ratio=1)
    from rendercanvas.auto import RenderCanvas

    return RenderCanvas(size=SIZE, title="gpustruct", update_mode="continuous")


def animate(canvas: Any, draw: Callable[[int], None], options: argparse.Namespace) -> None:
    """Call `draw(frame)` for each frame, and save the last one if asked to."""
    frames = itertools.count()
    canvas.request_draw(lambda: draw(next(frames)))
    if not options.save:
        from rendercanvas.auto import loop

        loop.run()
        return
    for _ in range(max(1, options.frames)):
        picture = canvas.draw()
    Image.fromarray(np.asarray(picture)[..., :3]).save(options.save, optimize=True)


class Window:
    """A window or, with --save, a picture; its device, and pipelines that draw into it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.device, self.canvas = options, default_device(), canvas(options)
        self.context = self.canvas.get_context("wgpu")
        # Windows store blue or red first, as their system does. The examples write linear colors, so the format is an sRGB one.
        self.format = self.context.get_preferred_format(self.device.adapter).removesuffix("-srgb") + "-srgb"
        self.context.configure(device=self.device, format=self.format)

    def run(self, draw: Callable[[Any, int], None]) -> None:
        """Call `draw(texture_view, frame)` for each frame."""
        context = self.context
        animate(self.canvas, lambda n: draw(context.get_current_texture().create_view(), n), self.options)

    def pipeline(
        self, program: Any, vertex: str, fragment: str, *, buffers: Any = (), glow: bool = False, **primitive: str
    ) -> Any:
        """A render pipeline of two entry points; `buffers` has the layouts of vertex buffers, and `glow` adds colors up."""
        add = {"src_factor": "one", "dst_factor": "one", "operation": "add"}
        target: dict[str, Any] = {"format": self.format}
        if glow:
            target["blend"] = {"color": add, "alpha": add}
        return self.device.create_render_pipeline(
            layout=program.layout,
            vertex={**program.stage(vertex), "buffers": list(buffers)},
            fragment={**program.stage(fragment), "targets": [target]},
            primitive={"topology": "triangle-strip", **primitive},
        )


def paint(
    encoder: Any,
    target: Any,
    pipeline: Any,
    groups: Any,
    vertices: int,
    instances: int = 1,
    *,
    offsets: Any = (),
    buffers: Any = (),
    clear: tuple[float, float, float] = (0.004, 0.005, 0.012),
) -> None:
    """A render pass that clears the picture, and makes one draw call, or one for each of the dynamic `offsets`.

    `buffers` has the RecordBuffers of vertex data.
    """
    attachment = {"view": target, "load_op": "clear", "store_op": "store", "clear_value": (*clear, 1)}
    drawing = encoder.begin_render_pass(color_attachments=[attachment])
    drawing.set_pipeline(pipeline)
    for slot, records in enumerate(buffers):
        drawing.set_vertex_buffer(slot, records.buffer)
    for named in offsets or [{}]:
        groups.set(drawing, **named)
        drawing.draw(vertices, instances)
    drawing.end()
