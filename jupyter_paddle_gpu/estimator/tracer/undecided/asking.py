"""What is asked where data of unknown content is needed: by which name and of which kind, and whether for the step.

A backward pass of what unknown code computes asks for nothing: what that is called with is known, and the mean of it
stands for a loss, so that gradients arrive where they would.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import paddle

from ..session import Session
from . import running_code, variants
from .arithmetic import COMPUTED
from .needs import CHOSEN, LENGTH, Kind, Need, Why, default_of, file_of, is_tensor, type_of, usual_of
from .running_code import is_trained_on, layer_asks, makes_a_layer, paddle_asks, place


def need_of(value: Any, data: Any, why: Why, *, is_asked: bool, counts: bool) -> Need:
    """The need for a value of unknown content, remembered in what a run has seen of such data (`AbsentData`).

    Args:
        is_asked: whether an answer could stand for it.
        counts: whether it says how many layers are made, if it is a number of its own.
    """
    name = data.name_of(value)
    if why == "batch_unseen" and paddle_asks():
        why = "tensor_unseen"  # an operator goes through what it was given
    if why == "batch_unseen" and key_of(value) and running_code.program_makes_a_layer():
        counts, why = True, "list_unseen"
    if why == "number_unseen" and not _is_vocabulary(value) and (held := list_of(value)) is not None:
        value, counts, why = held, True, "list_unseen"
    kind: Kind = "batch" if why in {"batch_unseen", "tensor_unseen"} else "value"
    if why in {"number_unseen", "list_unseen"}:
        part = data.part_name(value)
        counts, name = counts and bool(part) and value.__dict__["_label"] != LENGTH, part or name
    elif why == "length_unseen" and name:
        name = f"len_{name}"
    against = value.__dict__.get("_against") if kind == "value" else None
    if against is not None and name and key_of(value):
        why = "choice_unseen"
    is_shape = why == "length_unseen" and value.__dict__["_label"] == "shape" and paddle_asks()
    is_index = why == "number_unseen" and data.is_lazy and is_tensor(value) and paddle_asks()
    if kind == "value" and why not in CHOSEN and data.is_lazy and (is_shape or is_index or layer_asks()):
        kind, why, name = "batch", "tensor_unseen", data.name_of(value)
    is_of_step = makes_a_layer(counts=counts) if kind == "value" else is_trained_on() and not data.wants_numbers
    is_of_step = is_of_step and is_asked and not value.__dict__["_is_asked"] and variants.present() is None
    if (wants := chosen_by(value)) is not None:
        return data.need(replace(wants, is_of_step=is_of_step))  # type: ignore[no-any-return]
    sizes = running_code.sized(value) if kind == "value" and is_of_step else ""
    is_index = is_index or (kind == "value" and running_code.asks_for_a_place())
    need = Need(
        name, kind, why, *place(), is_of_step=is_of_step, sizes=sizes, is_index=is_index, dtype=type_of(value),
        default=default_of(value), key=key_of(value), usual=usual_of(value),
        options=() if against is None else (against,), file=file_of(value),
        part=_side_of(value, data) if kind == "value" else "",
    )  # fmt: skip
    return data.need(need)  # type: ignore[no-any-return]


def _side_of(value: Any, data: Any) -> str:
    """Which side of which shape a number is; empty where it is none."""
    while value.__dict__["_label"] == COMPUTED and value.__dict__["_of"] is not None:
        value = value.__dict__["_of"]
    label, shape = value.__dict__["_label"], value.__dict__["_of"]
    if label == "shape" and shape is not None and (name := data.name_of(shape)):
        return f"{name}.shape"  # of which side is not known any more
    if shape is None or shape.__dict__["_label"] != "shape" or not (label.isdecimal() or label == "last"):
        return ""
    name = data.name_of(shape)
    return f"{name}.shape[{'-1' if label == 'last' else label}]" if name else ""


def _is_vocabulary(value: Any) -> bool:
    """Whether a value is how many entries an embedding has: thousands, which nobody lists."""
    return value.__dict__["_label"] == LENGTH and running_code.sized(value) == "num_embeddings"


def key_of(value: Any) -> str:
    """What a part of unknown content is called in what it is a part of; empty where it is none, or only computed, and
    for what libraries look for in their own objects (`_typ` of pandas): nobody could answer that."""
    while value is not None and (label := value.__dict__["_label"]) in {COMPUTED, ""}:
        value = value.__dict__["_of"]
    is_name = value is not None and label.isidentifier() and not label.startswith("_")
    return label if is_name and label != LENGTH else ""


def list_of(value: Any) -> Any:
    """The list of a file of settings of which a value is an entry (`config["widths"][0]`), or the length; else None."""
    while value is not None and value.__dict__["_label"] == COMPUTED:
        value = value.__dict__["_of"]
    label = "" if value is None else value.__dict__["_label"]
    held = value.__dict__["_of"] if label in {"last", LENGTH} or label.isdecimal() else None
    return held if held is not None and is_setting(held) else None


def chosen_by(value: Any) -> Need | None:
    """The setting for want of which a value, or what it is a part of, was not chosen or made; None where there is
    none."""
    while value is not None:
        wants = value.__dict__.get("_wants")
        if wants is not None and wants.why in CHOSEN:
            return wants  # type: ignore[no-any-return]
        value = value.__dict__["_of"]
    return None


def is_setting(value: Any) -> bool:
    """Whether a value is a part of a file of settings that is not here."""
    if not hasattr(type(value), "is_not_known") or not key_of(value):
        return False
    while value.__dict__["_of"] is not None:
        value = value.__dict__["_of"]
    return bool(value.__dict__.get("_is_settings"))


def settings_of(value: Any) -> Any:
    """A value as what a file of settings holds."""
    value.__dict__["_is_settings"] = True
    return value


def ask_chosen(data: Any, value: Any, *, trains: bool) -> None:
    """Something that trains is called of a value: what chooses it is needed for the step."""
    data.is_trained = data.is_trained or trains
    if variants.present() is None and (wants := chosen_by(value)) is not None:
        data.need(replace(wants, is_of_step=True))


_GIVEN = "_given"
"""Of a value of unknown content: the tensors that go into a gradient which it was called with."""


def called_with(value: Any, given: tuple[Any, ...], data: Any) -> Any:
    """What unknown code gives, which holds what it was given where the program takes it as a loss."""
    tensors = [one for one in given if isinstance(one, paddle.Tensor) and not one.stop_gradient]
    if tensors and variants.present() is None and (name := running_code.assigned()):
        is_loss = re.search(rf"\b{re.escape(name)}\b[^\n]*\.backward\(", data.code)
        value.__dict__.update({_GIVEN: tensors} if is_loss else {})
    return value


def pass_back(value: Any, session: Session) -> None:
    """A backward pass of a value of unknown content; none where nobody knows of what it was computed."""
    while value is not None:
        if tensors := value.__dict__.pop(_GIVEN, None):
            session.note("loss_unseen")
            total = tensors[0].mean()
            for one in tensors[1:]:
                total = total + one.mean()
            total.backward()
            value.__dict__["_total"] = total  # there as long as the program has its loss
            return
        value = value.__dict__["_of"]
