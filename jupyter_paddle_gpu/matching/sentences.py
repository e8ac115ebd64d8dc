"""What is said of a decision: why a training runs where it does, what it waits for, and why it cannot run."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.decisions import Need, Way
from ..domain.devices import Device, DeviceShare
from ..domain.messages import Message, Param
from ..domain.placements import Fit
from ..domain.sizes import human

ON_REQUEST = Message(code="cpu_on_request", text="Runs on the CPU, as asked.")
NOT_GIVEN = Message(code="cpu_not_given", text="Runs on the CPU: this engine gives its jobs no GPU now.")
NO_DEVICE = Message(code="cpu_no_device", text="Runs on the CPU: there is no GPU here.")
NONE_USABLE = Message(
    code="cpu_none_usable",
    text="Runs on the CPU: no device here can be used.",
    hint="Each device says why in the list.",
)
ASSIGNED = Message(code="assigned", text="The engine gives it a device when one is free.")
WITHOUT_DEVICE = Message(code="without_device", text="on the CPU")
RUN_ON_CPU = Message(code="run_on_cpu", text="Run on the CPU")
ANYWAY = Message(
    code="chosen_anyway",
    text="Starts as soon as a device is free, whatever memory it has: you insisted.",
)


def named(device: Device) -> Message:
    """What a device is called wherever a sentence speaks of it."""
    params: dict[str, Param] = {"title": device.title, "name": device.name}
    if device.checked:
        return Message(code="device", text="{title} ({name})", params=params)
    return Message(code="unchecked", text="{title} ({name}, not checked on hardware)", params=params)


def chosen(
    device: Device, fit: Fit, room: int | None, *, prefer: str, among: int, barred: bool, count: int = 1
) -> Message:
    """Why this device is the one that it starts on, or these `count` are.

    Args:
        device, fit: of several the one that suits least; `room`: the least of them has, None where one tells nothing.
        prefer: what the policy prefers among devices that fit.
        among: how many devices there were to choose from; `barred`: there are others, which may not be chosen.
    """
    params: dict[str, Param] = {"device": named(device), "free": human(room or 0), "count": count}
    if fit == "tight":
        told = _TIGHT
    elif room is None:
        told = _SILENT
    elif fit == "unknown":
        told = _UNJUDGED
    elif among == count:
        told = _REMAINING if barred else _ONLY
    else:
        told = _PREFERRED.get(prefer, _FREEST)
    return told.filled(**params)


_TIGHT = Message(
    code="chosen_tight",
    text="{count} devices are chosen, but {device} may be too small: {free} can be had.",
    singular="{device} is chosen, but it may be too small: {free} can be had.",
    counted="count",
    hint="A smaller batch is the safe side.",
)
_SILENT = Message(
    code="chosen_silent",
    text="{count} devices are chosen, though {device} does not tell how much memory is free.",
    singular="{device} is chosen, though it does not tell how much memory is free.",
    counted="count",
)
_UNJUDGED = Message(
    code="chosen_unjudged",
    text="{count} devices are chosen for their free memory, at least {free} each; what the training needs is not "
    "known.",
    singular="{device} is chosen for its free memory, {free}; what the training needs is not known.",
    counted="count",
    hint="Answer the open questions of the estimate.",
)
_ONLY = Message(
    code="chosen_only",
    text="{count} devices have room for it.",
    singular="{device} has room for it.",
    counted="count",
)
_REMAINING = Message(
    code="chosen_remaining",
    text="{count} devices have room for it, and no other here may be chosen by itself.",
    singular="{device} has room for it, and is the only one here that may be chosen by itself.",
    counted="count",
    hint="Each device says why in the list.",
)
_FREEST = Message(
    code="chosen_freest",
    text="{count} devices fit and have the most free memory: at least {free} each.",
    singular="{device} fits and has the most free memory: {free} can be had.",
    counted="count",
)
_PREFERRED = {
    "score": Message(
        code="chosen_best",
        text="{count} devices fit and serve the policy's aims best: at least {free} each can be had.",
        singular="{device} fits and serves the policy's aims best: {free} can be had.",
        counted="count",
    ),
    "least_free": Message(
        code="chosen_smallest",
        text="{count} devices are the smallest rooms that fit: at least {free} each can be had.",
        singular="{device} is the smallest room that fits: {free} can be had.",
        counted="count",
    ),
    "fastest": Message(
        code="chosen_fastest",
        text="{count} devices are the fastest of those that fit.",
        singular="{device} is the fastest of those that fit.",
        counted="count",
    ),
}


def by_the_rules(device: Device) -> Message:
    """What would have been chosen without what was learned."""
    return Message(
        code="by_the_rules",
        text="By the rules it would have been {device}.",
        params={"device": named(device)},
    )


def your_choice(device: Device, count: int) -> Message:
    """A device that the person named, or `count` of them, where it can start."""
    return Message(
        code="your_choice",
        text="{count} devices are your choice.",
        singular="{device} is your choice.",
        counted="count",
        params={"device": named(device), "count": count},
    )


def your_choice_tight(device: Device, room: int, count: int) -> Message:
    """A device that the person named and that may just do, alone or among `count`."""
    return Message(
        code="your_choice_tight",
        text="{count} devices are your choice, but {device} may be too small: {free} can be had.",
        singular="{device} is your choice, but it may be too small: {free} can be had.",
        counted="count",
        hint="A smaller batch is the safe side.",
        params={"device": named(device), "free": human(room), "count": count},
    )


def your_choice_unseen(device: Param) -> Message:
    """A device that the person named, of which nothing is known here."""
    return Message(code="your_choice_unseen", text="Device {device} is your choice.", params={"device": device})


def short(device: Device, need: int, room: int, *, only: bool) -> Message:
    """What has to become free. `only`: the person named it."""
    params: dict[str, Param] = {"device": named(device), "missing": human(need - room)}
    hint = "A job waits in the queue until then; a smaller batch may start sooner."
    if only:
        return Message(
            code="your_choice_short",
            text="{device} is your choice; it has room when {missing} more are free there.",
            hint=hint,
            params=params,
        )
    return Message(
        code="chosen_later",
        text="No device has room now; {device} will when {missing} more are free.",
        hint=hint,
        params=params,
    )


def none_to_name(device: Param) -> Message:
    """A device was named where there is none."""
    return Message(
        code="no_device_to_name",
        text="Device {device} was asked for, and there is no GPU here.",
        hint="Leave the device out, then it runs on the CPU; or submit it where the device is.",
        params={"device": device},
    )


NO_SHARES = Message(
    code="no_shares",
    text="No device here tells how much memory it has, so none can be shared by it.",
    hint="Ask for whole devices.",
)


def has_share(device: Device, part: DeviceShare) -> Message:
    """What of a device a job has."""
    return Message(
        code="has_share",
        text="It has {share} of the {total} of {device}, and others may have the rest.",
        params={
            "device": named(device),
            "share": human(part.bytes),
            "total": human(part.total),
        },
    )


def share_too_large(device: Device, part: DeviceShare) -> Message:
    """More than a device has for all shares together."""
    return Message(
        code="share_too_large",
        text="A share of {share} was asked for; {device} has {most} for all shares together.",
        hint="Ask for less, or for whole devices.",
        params={"device": named(device), "share": human(part.bytes), "most": human(part.most)},
    )


def share_too_small(need: Need, device: Device, part: DeviceShare) -> Message:
    """The training would run into the end of its share."""
    return Message(
        code="share_too_small",
        text="Needs {needed}, and its share of {device} is {share}.",
        hint="Ask for a larger share, or for whole devices.",
        params={
            "device": named(device),
            "share": human(part.bytes),
            "needed": human(need.high),
        },
    )


def gone(device: Param) -> Message:
    """A device that was named is not here now."""
    return Message(
        code="device_gone",
        text="Waits for {device}, which is not here any more.",
        hint="Stop the job and submit it for another device if it does not come back.",
        params={"device": device},
    )


def too_few(count: int, there: int, *, makers: int = 1, slices: bool = False) -> Message:
    """More devices are asked for than there are.

    Args:
        makers: so many made those that are here.
        slices: whether some of those are slices of a card.
    """
    if makers > 1 and count > 1:
        return Message(
            code="too_few_devices",
            text="{asked} GPUs were asked for; of one maker {there} can be used here, and those of several cannot "
            "train together.",
            hint="Ask for fewer, or run on the CPU (0 GPUs).",
            params={"asked": count, "there": there},
        )
    if slices and count > 1:
        return Message(
            code="too_few_devices",
            text="{asked} GPUs were asked for; {there} can be used here, as slices of divided cards (MIG) cannot train "
            "together.",
            hint="Ask for fewer, or run on the CPU (0 GPUs).",
            params={"asked": count, "there": there},
        )
    return Message(
        code="too_few_devices",
        text="{asked} GPUs were asked for; {there} can be used here.",
        hint="Ask for fewer, or run on the CPU (0 GPUs).",
        singular="{asked} GPU was asked for; {there} can be used here.",
        counted="asked",
        params={"asked": count, "there": there},
    )


def fits_nowhere(
    need: Need, most: int, count: int, ways: Sequence[Way] | None, *, only: Device | None = None
) -> Message:
    """It is too large for what is here.

    Args:
        most: bytes that the last of the devices that it would need offers when it is empty.
        ways: what would fit; None: nobody looked for it.
        only: the device that the person named.
    """
    then, fields = _then(ways)
    hint = then.text
    params: dict[str, Param] = {**fields, "needed": human(need.high), "free": human(most)}
    if only is not None:
        return Message(
            code="fits_not_there",
            text="Needs {needed}; {device} offers at most {free}.",
            hint=hint,
            params={**params, "device": named(only)},
        )
    if count > 1:
        return Message(
            code="fits_nowhere",
            text="Needs {needed} on each of {count} cards; the {count} largest here offer at most {free} each.",
            hint=hint,
            params={**params, "count": count},
        )
    return Message(
        code="fits_nowhere",
        text="Needs {needed}; the largest card here offers at most {free}.",
        hint=hint,
        params=params,
    )


def _then(ways: Sequence[Way] | None) -> tuple[Message, dict[str, Param]]:
    """What to do where it does not fit, and what stands in its fields."""
    if ways is None:
        return _NOT_SEARCHED, {}
    if not ways:
        return _NO_WAY, {}
    words = ways[-1].message
    for way in reversed(ways[:-1]):
        words = Message(code="or", text="{first}, or {other}", params={"first": way.message, "other": words})
    return _WAYS, {"ways": words}


_WAYS = Message(code="ways", text="Fits {ways}.")
_NOT_SEARCHED = Message(code="not_searched", text="An estimate with details says what would fit.")
_NO_WAY = Message(code="no_way", text="Nothing that was tried makes it fit: choose a larger card, or the CPU.")


def step_too_large(needs: int, limit: int, ways: Sequence[Way] | None) -> Message:
    """A training on the CPU that what a job may have of the machine cannot hold.

    Args:
        ways: what would fit; None: nobody looked for it.
    """
    then, fields = _then(ways)
    return Message(
        code="step_too_large",
        text="One training step alone takes {needs} of memory, and the job may have {limit}.",
        hint=_MORE_MEMORY.text if ways == () else then.text,
        params={**fields, "needs": human(needs), "limit": human(limit)},
    )


_MORE_MEMORY = Message(
    code="more_memory",
    text="No smaller batch makes it fit: what the model itself takes is too much. "
    "Make the model smaller, or give the job more memory.",
)


def host_short(needs: int, free: int) -> Message:
    """A training on the CPU for which the machine has no memory left now."""
    return Message(
        code="host_short",
        text="The training needs {needed} on the CPU; this machine has {free} left.",
        hint="Choose a smaller batch, or a machine with more memory.",
        params={"needed": human(needs), "free": human(free)},
    )
