"""The viewers that there are."""

from __future__ import annotations

import msgspec


class Viewer(msgspec.Struct, frozen=True):
    """A viewer of event files.

    Attributes:
        title: what people call it.
        package: what is imported and, by pip, installed.
        files: how the names of its files begin.
        page: the page of its that shows the scalars, below its own address; empty where it begins with them.
    """

    name: str
    title: str
    package: str
    files: str
    page: str = ""


VIEWERS = {
    one.name: one
    for one in (
        Viewer("visualdl", "VisualDL", "visualdl", "vdlrecords.", page="scalar"),
        Viewer("tensorboard", "TensorBoard", "tensorboard", "events.out.tfevents."),
    )
}
"""How each is started stands in `program.py`, which runs in interpreters that have none of this."""
