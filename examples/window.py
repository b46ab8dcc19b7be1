"""What the examples share: their options, and a loop that draws into a window or, with --save, into a PNG file."""

from __future__ import annotations

import argparse
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rendercanvas.offscreen import OffscreenRenderCanvas

FORMAT = "rgba8unorm-srgb"
SIZE = (640, 400)


def arguments(description: str | None, *, count: int, frames: int) -> argparse.Namespace:
    """The options of every example: --count, --save and --frames."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=count, help=f"how many things to draw (default {count:,})")
    parser.add_argument("--save", type=Path, metavar="PNG", help="draw without a window, and save the last frame here")
    parser.add_argument("--frames", type=int, default=frames, help=f"frames before --save saves (default {frames})")
    return parser.parse_args()


def run(device: Any, draw: Callable[[Any, int], None], options: argparse.Namespace) -> None:
    """Call `draw(texture_view, frame)` for each frame."""
    if options.save:
        canvas: Any = OffscreenRenderCanvas(size=SIZE, pixel_ratio=1)
    else:
        from rendercanvas.auto import RenderCanvas, loop

        canvas = RenderCanvas(size=SIZE, title="gpustruct", update_mode="continuous")
    context = canvas.get_context("wgpu")
    context.configure(device=device, format=FORMAT)
    frame = 0

    def animate() -> None:
        nonlocal frame
        draw(context.get_current_texture().create_view(), frame)
        frame += 1

    canvas.request_draw(animate)
    if not options.save:
        loop.run()
        return
    for _ in range(options.frames):
        picture = canvas.draw()
    save(options.save, np.asarray(picture)[..., :3])


def pipeline(
    program: Any, vertex: str, fragment: str, *, buffers: Any = (), glow: bool = False, **primitive: str
) -> Any:
    """A render pipeline of two entry points; `buffers` has the layouts of vertex buffers, and `glow` adds colors up."""
    add = {"src_factor": "one", "dst_factor": "one", "operation": "add"}
    target: dict[str, Any] = {"format": FORMAT}
    if glow:
        target["blend"] = {"color": add, "alpha": add}
    return program.device.create_render_pipeline(
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


def save(path: Path, rgb: np.ndarray) -> None:
    """Write (height, width, 3) bytes as a PNG file."""
    height, width, _ = rgb.shape
    # Filter 1: each pixel less the one on its left.
    rows = b"".join(b"\1" + row.tobytes() for row in np.diff(rgb, axis=1, prepend=np.uint8(0)))

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
