"""What can be asked of an estimate: one declaration each, from which all faces follow.

A what-if is a field of `EstimateRequest` with its `Declaration` beside the type:

    batch_size: Annotated[int | None, Declaration(help="Another batch size than the notebook's.", ...)] = None

From it follow the terminal's option and the magic's flag (`commands.options`), what REST takes and says of it
(`server.schemas`), the panel's field and its words (`server.what_ifs`), what the tracer is told (`for_tracer`), what a
job is run with (`for_job`), the sentences of the tracer (`estimator.translate`) and of a remedy (`WhatIf.suggestion`);
`declarations` says what a declaration may hold.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Annotated, Any, Literal

import msgspec

from .declarations import Declaration, Words, declared
from .messages import Message, Param
from .notebooks import FactValue

AmpLevel = Literal["off", "O1", "O2"]
Target = Literal["gpu", "cpu"]


class EstimateRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to estimate. A None leaves the notebook's own value; numbers are checked by `bounds`.

    Attributes:
        answers: `name -> value` for questions; the name is bound to the value wherever the notebook assigns it.
        held: what the notebook's kernel holds by the names of questions: the first suggestion of each.
        environment: variables that a job would have beside those of the notebook's kernel: flags of Paddle's allocator
            and kernels are among them.
        release: of Paddle that a job would have, where an image brings another one than the notebook's kernel has;
            empty: the kernel's; null: an image's that does not say it.
        accumulation: an update still sees as many samples.
        set_to_zero: what `clear_grad` is called with; False gives the gradients' memory back between two steps.
        on_cpu: for a job that runs where there is no GPU.
        devices: the estimate is for the device that holds most. None: what the notebook says (`nprocs=`, `--devices`,
            `strategy.hybrid_configs`), else 1.
        target: `gpu` adds what the driver, the allocator and the libraries take; `cpu` gives Paddle's CPU allocator.
            None: what a job would run on (`matching.decision.without_device`); of a named device the GPU.
        details: needs further traces.
        details_seconds: None: as long as the estimator's settings say.
    """

    answers: dict[str, FactValue] = {}
    held: dict[str, FactValue] = {}
    environment: dict[str, str] = {}
    release: str | None = ""
    batch_size: Annotated[
        int | None,
        Declaration(
            help="Another batch size than the notebook's.",
            label="Batch size",
            sizes_batch=True,
            words=Words(asked="with batch {value}", suggested="Batch {value}"),
            sought=True,
            in_jobs=True,
            in_sweeps=True,
            real_steps="follow",
            if_known=True,
            kept=(
                Message(
                    code="batch_size_kept",
                    text="A batch size of {asked} was asked for, but the notebook's batches have {found} samples in "
                    "any case.",
                    hint="Give the variable that sizes the batch with --set name=value.",
                ),
            ),
        ),
    ] = None
    amp: Annotated[
        AmpLevel | None,
        Declaration(
            help="Mixed precision.",
            in_jobs=True,
            in_sweeps=True,
            label="Mixed precision",
            words=Words(asked="with mixed precision {value}", suggested="AMP {value}"),
            values={"off": Words(label="off", asked="without mixed precision")},
        ),
    ] = None
    amp_dtype: Annotated[
        Literal["float16", "bfloat16"] | None,
        Declaration(
            help="The number format of mixed precision.",
            in_jobs=True,
            label="Its number format",
            words=Words(asked="in {value}"),
            follows="amp",
        ),
    ] = None
    accumulation: Annotated[
        int | None,
        Declaration(
            help="Steps over which gradients are summed.",
            in_jobs=True,
            label="Steps accumulated",
            sizes_batch=True,
            looks_first=True,
            words=Words(asked="with {value} steps accumulated", suggested="Accumulate {value} steps"),
            notes=(
                Message(
                    code="batch_undivided",
                    text="The notebook's batches are of one size in any case, so an update sees {asked} times as many "
                    "samples.",
                    hint="Ask for it together with a batch size where a variable such as BATCH_SIZE sets it.",
                ),
                Message(
                    code="too_few_steps",
                    text="The training ends before gradients of {asked} steps are summed.",
                    hint="Let the loop that trains run for more steps.",
                ),
            ),
            kept=(
                Message(
                    code="accumulation_kept",
                    text="Gradients of {asked} steps were to be summed; the notebook sums those of {found}, and the "
                    "figure is for that.",
                    hint="Ask for a multiple of {found}, or change it in the notebook.",
                ),
            ),
        ),
    ] = None
    recompute: Annotated[
        bool | None,
        Declaration(
            help="Recompute activations in the backward pass, or keep those that the notebook recomputes.",
            in_jobs=True,
            label="Activations",
            values={
                True: Words(label="recomputed", asked="with recompute", suggested="Recompute"),
                False: Words(label="kept", asked="without recompute"),
            },
            notes=(
                Message(
                    code="nothing_recomputed",
                    text="No block of layers repeats in this model, as an encoder's do: recompute changes nothing.",
                    hint="Call paddle.distributed.fleet.utils.recompute around the layers that hold most.",
                ),
            ),
        ),
    ] = None
    set_to_zero: Annotated[
        bool | None,
        Declaration(
            help="What clear_grad does: fill gradients with zeros, or free their memory between two steps.",
            in_jobs=True,
            label="Gradients between steps",
            values={
                True: Words(label="zeroed", asked="with gradients zeroed"),
                False: Words(label="freed", asked="with gradients freed", suggested="Free gradients"),
            },
        ),
    ] = None
    image_size: Annotated[
        int | None,
        Declaration(
            help="Images of this height and width, in pixels.",
            label="Images, pixels a side",
            other_data=True,
            looks_first=True,
            words=Words(asked="with images of {value} × {value} pixels", suggested="Images of {value} px"),
            real_steps="refuse",
            if_known=True,
            notes=(
                Message(
                    code="no_images",
                    text="The training step gets no images, so there is no other size to ask about.",
                    hint="An image is an array of four dimensions that a layer is called with.",
                ),
                Message(
                    code="image_refused",
                    text="As it is, the notebook does not take images of {images} × {images} pixels.",
                    hint="The model is built for one size: look for a Linear layer behind Flatten, or for a table of "
                    "positions.",
                ),
                Message(
                    code="image_kept",
                    text="Images of {asked} × {asked} pixels were asked for, but the model still gets {height} × "
                    "{width}.",
                    hint="Give the variable that holds their size with --set name=value.",
                ),
            ),
        ),
    ] = None
    sequence_length: Annotated[
        int | None,
        Declaration(
            help="Sequences of this many tokens or steps.",
            label="Sequence length",
            other_data=True,
            looks_first=True,
            words=Words(asked="with sequences of length {value}", suggested="Sequences of {value}"),
            real_steps="refuse",
            if_known=True,
            notes=(
                Message(
                    code="no_sequences",
                    text="The training step gets no sequences, so there is no other length to ask about.",
                    hint="A sequence is a [batch, length] array of integers or a [batch, length, features] array that "
                    "a layer is called with.",
                ),
                Message(
                    code="sequence_refused",
                    text="As it is, the notebook does not take sequences of length {length}.",
                    hint="The model is built for one length, or up to one: look for a table of positions or a fixed "
                    "mask.",
                ),
                Message(
                    code="sequence_kept",
                    text="Sequences of length {asked} were asked for, but the model still gets {found}.",
                    hint="Give the variable that holds their length with --set name=value.",
                ),
            ),
        ),
    ] = None
    devices: Annotated[
        int | None,
        Declaration(
            help="Processes that train together, one a device.",
            in_jobs=True,
            label="Devices that train together",
            words=Words(asked="on {value} devices", suggested="On {value} devices"),
            if_known=True,
            fact="distribution",
        ),
    ] = None
    on_cpu: Annotated[
        bool | None,
        Declaration(
            help="Take the CPU where the cells ask for a GPU by name.",
            in_jobs=True,
            traced=False,
            values={True: Words(label="taken", asked="on the CPU where the notebook names a GPU")},
        ),
    ] = None
    training: Annotated[
        str | None,
        Declaration(
            help="Which of the notebook's trainings, by its number; without it the one that needs most.",
            picks=True,
            real_steps="refuse",
        ),
    ] = None
    device: Annotated[
        str | None,
        Declaration(help="An accelerator's name, or a device id or index of this machine.", traced=False, sought=True),
    ] = None
    target: Annotated[
        Target | None,
        Declaration(
            help="GPU, or Paddle's CPU allocator; without it that on which a job would run.",
            real_steps="follow",
            sought=True,
        ),
    ] = None
    details: Annotated[
        bool,
        Declaration(
            help="Also remedies, the largest batch that fits, and the step's layers and tensors.",
            traced=False,
            sought=True,
        ),
    ] = False
    details_seconds: Annotated[
        int | None,
        Declaration(
            help="How long remedies and the largest batch are sought, in seconds; without it 30.",
            traced=False,
            sought=True,
        ),
    ] = None


WHAT_IFS = declared(EstimateRequest)
BY_NAME = {row.name: row for row in WHAT_IFS}
IN_NO_CELL = frozenset({"devices"})
"""What stays to be told where a job's copy has all that it needs for it: how many processes there are stands in no
cell."""


def for_tracer(request: EstimateRequest) -> dict[str, Any]:
    """What the tracer is told, by name."""
    return {row.name: getattr(request, row.name) for row in WHAT_IFS if row.traced}


def for_job(request: EstimateRequest) -> EstimateRequest:
    """What of a request a job is run with: answers, environment, Paddle's release, the what-ifs that change its copy of
    the notebook, and of which training."""
    kept = {row.name: getattr(request, row.name) for row in WHAT_IFS if row.in_jobs or row.picks}
    kept |= {name: getattr(request, name) for name in ("answers", "environment", "release")}
    return EstimateRequest(**kept)


def in_copy(request: EstimateRequest, written: Container[str] = ()) -> EstimateRequest:
    """What is left to ask about the copy that a job with this request is run with: it has the changes, and all of its
    trainings are run.

    Args:
        written: answers that stand in its cells.
    """
    made = {row.name: row.default for row in WHAT_IFS if (row.in_jobs or row.picks) and row.name not in IN_NO_CELL}
    answers = {name: value for name, value in request.answers.items() if name not in written}
    return msgspec.structs.replace(request, answers=answers, **made)


def only_estimated(request: EstimateRequest) -> Iterator[Message]:
    """What of a request no job is run with, in words."""
    for row in WHAT_IFS:
        if not (row.in_jobs or row.picks or row.sought):
            value = getattr(request, row.name)
            if value != row.default:
                yield row.said(value)


def asked_for(request: EstimateRequest) -> Iterator[Message]:
    """What is asked otherwise than the notebook has it, in words: they stand beside the figure."""
    for row in WHAT_IFS:
        value = getattr(request, row.name)
        if value != row.default and row.words_of(value).asked:
            yield row.said(value)


def asked_in_a_row(request: EstimateRequest) -> Message | None:
    """The same within a sentence; None where nothing is asked otherwise."""
    row: Message | None = None
    for words in asked_for(request):
        params: dict[str, Param] = {} if row is None else {"before": row, "words": words}
        row = words if row is None else Message(code="asked_in_a_row", text="{before}, {words}", params=params)
    return row
