"""Jobs as containers on a Docker Engine. Nothing outside this package talks to Docker."""

from .engine import DockerEngine
from .settings import DockerSettings

__all__ = ["DockerEngine", "DockerSettings"]
