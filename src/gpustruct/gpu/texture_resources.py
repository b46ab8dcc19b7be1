"""Checks a texture or a sampler before wgpu gets it. WebGPU §8.1.1 (binding types), §26.1 (formats)."""

from __future__ import annotations

from typing import Any

from ..errors import BindingError
from ..wgsl import Variable
from . import backend, devices
from .buffer_resources import argument

# The views that a texture of each dimension can have.
_VIEWS = {"1d": ("1d",), "2d": ("2d", "2d-array", "cube", "cube-array"), "3d": ("3d",)}
_READS = {"sint": "whole numbers (sint)", "uint": "whole numbers (uint)", "depth": "depths", "float": "floats"}


class TextureSlot:
    """Checks textures and views for one variable. What follows from the variable alone is computed once."""

    is_dynamic = False

    def __init__(self, device: Any, variable: Variable, *, filtered: bool) -> None:
        self.variable = variable
        self._is_storage = variable.kind == "storage-texture"
        self.writes = self._is_storage and variable.access != "read"
        self._device, self._where, self._filtered = device, argument(variable.name), filtered
        self._usage = "STORAGE_BINDING" if self._is_storage else "TEXTURE_BINDING"
        self._flag: int = getattr(backend.TextureUsage, self._usage)
        # The formats that this variable can read, of those seen so far.
        self._formats: set[str] = set()
        # Whether objects of a class are views, for the classes seen so far.
        self._kinds: dict[type[Any], bool] = {}

    def resource(self, given: Any) -> tuple[Any, backend.DestroyHook]:
        """`given`, and the texture's hook. BindingError unless it is a texture or a view that fits."""
        variable, where = self.variable, self._where
        is_view = self._kinds.get(type(given))
        if is_view is None:
            is_view = self._is_view(given)
        image = given.texture if is_view else given
        if backend.owner_of(given) is not self._device:
            what = "texture" if given is image else "texture view"
            raise BindingError.of("bind-foreign", what=what, where=where, make="create_texture")
        hook = backend.watch(image)
        if hook.destroyed:
            raise BindingError.of("bind-destroyed", name=variable.name, where=where)
        if not hook.usage & self._flag:
            current = devices.usage_text(hook.usage, backend.TextureUsage)
            facts = {"usage": self._usage, "current": current}
            raise BindingError.of("bind-usage", what="texture", where=where, module="Texture", **facts)
        if self._is_storage:
            if image.format != variable.format:
                facts = {"name": variable.name, "wanted": variable.format, "current": image.format, "where": where}
                raise BindingError.of("bind-format", **facts)
        else:
            if image.sample_count > 1 or variable.multisampled:
                _check_samples(variable, image, where)
            if image.format not in self._formats:
                _check_sample_type(self._device, variable, image, where, self._filtered)
                self._formats.add(image.format)
        _check_dimension(variable, image.dimension, hook.size, where)
        return given, hook

    def _is_view(self, given: Any) -> bool:
        if not backend.is_a(given, "GPUTexture", "GPUTextureView"):
            facts = {"wanted": f"a {self.variable.type_name}", "current": type(given).__name__}
            way_out = "pass a texture view, or a wgpu texture for a view of all of it"
            raise BindingError.of("bind-kind", where=self._where, way_out=way_out, **facts)
        found = self._kinds[type(given)] = backend.is_a(given, "GPUTextureView")
        return found

    def for_wgpu(self, found: Any) -> Any:
        """The view to bind: `found` if it is one, otherwise a view of the texture."""
        return found if self._kinds[type(found)] else _view_of(self.variable, found)


def _view_of(variable: Variable, image: Any) -> Any:
    """A view of as many layers as the variable declares, and of all mip levels, or of the first for a storage texture."""
    options: dict[str, Any] = {"dimension": variable.view_dimension}
    layers = {"2d": 1, "cube": 6}.get(variable.view_dimension or "")
    if layers and image.dimension == "2d":
        options["array_layer_count"] = layers
    if variable.kind == "storage-texture":
        options["mip_level_count"] = 1
    if "stencil" in image.format:
        reads_stencil = variable.sample_type == "uint"
        options["aspect"] = "stencil-only" if reads_stencil else "depth-only"
        # WebGPU §6.1.1: the format of one aspect. wgpu-py would pass that of the texture, which wgpu refuses.
        options["format"] = "stencil8" if reads_stencil else image.format.removesuffix("-stencil8")
    try:
        return image.create_view(**options)
    except backend.gpu_errors() as error:
        current, _ = backend.refused_binding(error)
        facts = {"current": current, "where": argument(variable.name), "way_out": "create the texture again"}
        raise BindingError.of("bind-refused", **facts) from None


class SamplerSlot:
    """Checks samplers for one variable."""

    is_dynamic = writes = False

    def __init__(self, device: Any, variable: Variable) -> None:
        self.variable = variable
        self._device, self._where = device, argument(variable.name)

    def resource(self, given: Any) -> tuple[Any, None]:
        """`given`, which must be a sampler of the device. There is no hook, because a sampler cannot be destroyed."""
        if not backend.is_a(given, "GPUSampler"):
            compares = self.variable.kind == "comparison-sampler"
            make = "device.create_sampler(compare='less')" if compares else "device.create_sampler()"
            facts = {"wanted": f"a {'comparison ' if compares else ''}sampler", "current": type(given).__name__}
            raise BindingError.of("bind-kind", where=self._where, way_out=f"pass {make}", **facts)
        if backend.owner_of(given) is not self._device:
            raise BindingError.of("bind-foreign", what="sampler", where=self._where, make="create_sampler")
        return given, None


def _check_samples(variable: Variable, image: Any, where: str) -> None:
    if bool(variable.multisampled) != (image.sample_count > 1):
        wanted = "several samples" if variable.multisampled else "one sample"
        number = 4 if variable.multisampled else 1
        facts = {"name": variable.name, "type": variable.type_name, "wanted": wanted, "number": number}
        raise BindingError.of("bind-samples", current=image.sample_count, where=where, **facts)


def sample_types(texture_format: str, features: Any) -> tuple[str, ...]:
    """The sample types of a bind group layout that a texture of this format may be bound to.

    >>> sample_types("r32float", ()), sample_types("depth24plus-stencil8", ()), sample_types("rgba8uint", ())
    (('unfilterable-float',), ('depth', 'unfilterable-float', 'uint'), ('uint',))
    """
    found: list[str] = []
    if texture_format.startswith("depth"):
        found = ["depth", "unfilterable-float"]
    if texture_format.endswith("stencil8"):
        return (*found, "uint")
    if found:
        return tuple(found)
    for word in ("uint", "sint"):
        if texture_format.endswith(word):
            return (word,)
    if texture_format.endswith("32float") and "float32-filterable" not in features:
        return ("unfilterable-float",)
    return ("float", "unfilterable-float")


def _check_sample_type(device: Any, variable: Variable, image: Any, where: str, filtered: bool) -> None:
    wanted = variable.sample_type or ""
    if wanted == "float" and not filtered:
        wanted = "unfilterable-float"
    found = sample_types(image.format, device.features)
    if wanted in found:
        return
    if wanted == "float" and "unfilterable-float" in found:
        raise BindingError.of("bind-unfilterable", name=variable.name, current=image.format, where=where)
    reads = _READS.get(variable.sample_type or "", "")
    facts = {"name": variable.name, "type": variable.type_name, "reads": reads, "current": image.format}
    examples = {"sint": "rgba8sint", "uint": "rgba8uint", "depth": "depth32float"}
    raise BindingError.of("bind-sample-type", where=where, example=examples.get(wanted, "rgba8unorm"), **facts)


def _check_dimension(variable: Variable, dimension: str, size: tuple[int, int, int], where: str) -> None:
    wanted = variable.view_dimension or "2d"
    fits = wanted in _VIEWS[dimension]
    if wanted == "2d" and fits:
        # A view may show one of several layers.
        return
    if wanted.startswith("cube"):
        fits = fits and size[2] >= 6 and size[0] == size[1]
    if not fits:
        shape = "a square 2d texture of 6 layers or more" if wanted.startswith("cube") else f"a {wanted[:2]} texture"
        current = f"a {dimension} texture of {' x '.join(map(str, size))}"
        raise BindingError.of("bind-dimension", name=variable.name, wanted=shape, current=current, where=where)
