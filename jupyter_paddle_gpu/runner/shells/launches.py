"""Devices that a command names to Paddle's launcher (`--devices 0,1`): those of the job, however they are called.

The launcher looks what is named up in the variable by which a process sees its devices, text by text (Paddle 3.3,
`launch/context/device.py`), and there stand the driver's ids, or the numbers of other devices: it would end with
`ValueError: '0' is not in list`.
"""

import os
import re
import sys
from typing import List

VARIABLE = "PADDLE_GPU_DEVICES"
"""Holds what the job's engine calls its devices, as their maker's variable has them."""
_LAUNCHERS = ("paddle.distributed.launch", "fleetrun")
_OPTIONS = r"--(?:devices|gpus|npus|xpus)"
_NAMED = re.compile(r"(%s(?:=|\s+))(['\"]?)([\w,-]+)\2(?!\S)" % _OPTIONS)
_SEES = "VISIBLE_DEVICES"
"""How the variables end by which processes see devices."""


def are_any() -> bool:
    """Whether the job has devices that a launcher may be told of."""
    return bool(os.environ.get(VARIABLE))


def line(text: str) -> str:
    """A command of a shell, with the job's devices in place of those that it names to the launcher."""
    if not any(one in text for one in _LAUNCHERS) or _SEES + "=" in text:
        return text
    return _NAMED.sub(lambda found: found[1] + found[2] + _own(found[3]) + found[2], text)


def words(command: List[str]) -> List[str]:
    """The same for a command that stands in a list."""
    if not any(launcher in word for word in command for launcher in _LAUNCHERS):
        return command
    found = list(command)
    for at, word in enumerate(command):
        option, _, named = word.partition("=")
        if not re.fullmatch(_OPTIONS, option):
            continue
        if named:
            found[at] = "%s=%s" % (option, _own(named))
        elif at + 1 < len(command):
            found[at + 1] = _own(command[at + 1])
    return found


def _own(named: str) -> str:
    """As many of the job's devices as are named; what a launcher would find, it is left."""
    given = os.environ.get(VARIABLE, "")
    seen = [value for name, value in os.environ.items() if name.endswith(_SEES)]
    own, asked = given.split(","), named.split(",")
    # A notebook that chooses by itself what its processes see calls them by its own names.
    if not given or given not in seen or set(asked) <= set(own):
        return named
    if len(asked) > len(own):
        print("The launcher is told %s, and the job has %d: it gets these." % (named, len(own)), file=sys.stderr)
    return ",".join(own[: len(asked)])
