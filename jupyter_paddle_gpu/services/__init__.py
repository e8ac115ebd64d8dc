"""The composition root and the use cases that all faces share: one object, the same numbers everywhere."""

from .requests import Check, Comparison, Matched, Preflight, Rerun, Submission
from .service import Services
from .settings import Settings

__all__ = ["Check", "Comparison", "Matched", "Preflight", "Rerun", "Services", "Settings", "Submission"]
