"""Jobs as detached processes of this machine. The engine that is always there."""

from .engine import LocalEngine

__all__ = ["LocalEngine"]
