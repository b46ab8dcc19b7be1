"""gpustruct: the `struct` module for the GPU."""

from .errors import BindingError, GpuStructError, LayoutError, SourceError, WgslError
from .layout import Layout
from .types import *
