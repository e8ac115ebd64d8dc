"""What an engine says of itself."""

from __future__ import annotations

import msgspec

from .messages import Message

TITLES = {"local": Message(code="engine_local", text="in the background here")}
"""What people call engines whose names are no words of theirs, where nobody asks the engine itself."""


class Features(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine can do, so that faces hide what it cannot.

    Attributes:
        name: as it stands in submissions, policy and rows; `title` what people call it.
        shares: it can keep a job to a share of a device's memory.
        own_devices: its jobs run on devices that are not this machine's.
        assigns_devices: it gives each job its devices itself, so none of them can be chosen.
        cpu_slots: how many jobs without a device run there at once; None: as many as come.
    """

    name: str
    title: Message
    gpus: bool
    containers: bool
    memory_limit: bool
    time_limit: bool
    several_devices: bool
    statistics: bool
    available: bool
    shares: bool = False
    own_devices: bool = False
    assigns_devices: bool = False
    cpu_slots: int | None = None
    problems: tuple[Message, ...] = ()
    """Why it is not available, or what to expect; each with its next step."""
