"""The composition root and the use cases that all faces share: one object, the same numbers everywhere."""

from .requests import Check, Matched, Preflight, Submission
from .service import Services
from .settings import Settings

__all__ = ["Check", "Matched", "Preflight", "Services", "Settings", "Submission"]
