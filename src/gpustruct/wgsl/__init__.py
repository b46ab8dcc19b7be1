"""WGSL text in, WGSL text out: parse, declare, check."""

from .writing import declare

__all__ = ["declare"]
