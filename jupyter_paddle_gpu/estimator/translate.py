"""The tracer's codes as sentences. The tracer runs in another interpreter and sends codes with their parameters."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ..domain.estimates import Question
from ..domain.messages import Message, Param
from ..domain.notebooks import Place
from ..domain.sizes import human
from ..domain.what_ifs import WHAT_IFS
from . import packages
from .batch_notes import BATCHES
from .graph_notes import GRAPHS
from .live_notes import LIVE
from .questions import ENDS, ONE_TRIED, ONE_UNREACHED, PATH_ALONE, QUESTIONS, SOURCES, UNREACHED, UNSUGGESTED, stated
from .refusal_notes import REFUSALS
from .stand_in_notes import STAND_INS
from .step_notes import AT_MOST, LEFT_BEHIND, MORE_ELSEWHERE, OF_STEPS, WAITS
from .trace import TracedNote, TracedQuestion

FAULT = "traceback"
"""A note's parameter that is for the log alone."""
WHOLE_GRAPH = "whole_graph"
"""The note on a step whose leading dimension is no batch."""
NOTES: dict[str, Message] = {
    message.code: message
    for message in (
        Message(
            code="stand_in_number",
            text="A number is read out of a tensor that is not computed here{place}; a stand-in was used.",
            hint="Where that number decides sizes, answer for it with --set name=value.",
        ),
        Message(
            code="stand_in_branch",
            text="A condition depends on values that are not computed here{place}; one way was assumed.",
            hint="The other branch may take more or less memory.",
        ),
        Message(
            code="branches_followed",
            text="A condition depends on values that are not computed here{place}; {ways} ways were traced.",
            hint="The figure is that of the largest; the lower end of its range is that of the smallest.",
        ),
        Message(
            code="value_failed",
            text="A value that the notebook reads could not be computed; a stand-in was used.",
        ),
        Message(
            code="rule_failed",
            text="The rule for the operator {op} failed ({problem}); what its kernel takes is not in this figure.",
            hint="This is a fault of the estimate, not of the notebook: please report it with these words.",
        ),
        Message(
            code="suggestion_failed",
            text="What data that is not here may look like could not be looked for ({problem}).",
            hint="This is a fault of the estimate, not of the notebook: please report it with these words. Its "
            "questions can be answered all the same.",
        ),
        Message(
            code="batch_search_failed",
            text="What sizes the batch could not be looked for ({problem}).",
            hint="This is a fault of the estimate, not of the notebook: please report it with these words.",
        ),
        Message(
            code="unpatched_library",
            text="The library here has no {names}, which a trace replaces: what a notebook does by it is not followed.",
            hint="Please report the library's version; a newer release of this extension may know it.",
        ),
        Message(
            code="create_graph",
            text="Gradients of the third order are taken; the figure may be too low by a tenth or more.",
        ),
        *REFUSALS,
        Message(
            code="sizes_vary",
            text="Steps take in data of different sizes; the figure is that of the largest of the first {steps}.",
            hint="A larger batch that comes later takes more: put the largest first to see it.",
        ),
        Message(
            code="rounds_unknown",
            text="A loop trains anew in each of its rounds{place}, and how many it has hangs on data that is not on "
            "this machine; the figure is that of the second round.",
            hint="What earlier rounds leave alive comes on top in later ones.",
        ),
        Message(
            code="data_absent",
            text="Cell {cell}, line {line}, wants {wanted}, which an estimate does without.",
            hint="Have it where the job runs.",
        ),
        Message(
            code="settings_absent",
            text="Answers stand for what {wanted} says, in the estimate alone; the job reads the file itself in cell "
            "{cell}, line {line}, and ends there without it.",
            hint="Have it where the job runs.",
        ),
        Message(
            code="settings_given",
            text="{wanted} is not on this machine. Where it is not there either, the job reads one that holds what was "
            "answered (cell {cell}, line {line}).",
            hint="One that is there is read as it is.",
        ),
        Message(
            code="settings_given_in_part",
            text="{wanted} is not on this machine. Where it is not there either, the job reads one that holds what was "
            "answered (cell {cell}, line {line}), and ends where it takes of it what was not: {lacks}.",
            hint="Answer that as well (`name=value`), or have the file where the job runs.",
        ),
        Message(
            code="data_absent_of_set",
            text="An estimate does without the data of {data_set} (cell {cell}, line {line}), but for the shape of "
            "its batches.",
            hint="Have it where the job runs.",
        ),
        Message(
            code="data_absent_unplaced",
            text="An estimate does without {wanted}.",
            hint="Have it where the job runs.",
        ),
        Message(
            code="data_hides",
            text="{wanted} is not on this machine{place}, and what comes behind it did not run.",
            hint="If a training stands there, have that here and estimate again.",
        ),
        Message(
            code="data_described",
            text="Data that is not on this machine was taken to look like this: {answers}.",
            hint="The figure holds for batches of that shape.",
        ),
        Message(
            code="data_followed",
            text="What data looks like that is not on this machine follows from the notebook's code: {batches}.",
            hint="The figure holds for batches of that shape.",
        ),
        Message(
            code="types_assumed",
            text="The types of the numbers in {names} are assumed: the code takes them from data that is not on this "
            "machine.",
            hint="Say what a batch looks like with --set where they are others.",
        ),
        Message(
            code="tensors_uncounted",
            text="The figure is without {names}, whose length hangs on data that is not on this machine.",
        ),
        Message(
            code="numbers_assumed",
            text="Numbers of data that is not on this machine were assumed: {numbers}. With 0 less is computed.",
        ),
        Message(
            code="answers_assumed",
            text="What else hangs on data that is not on this machine was assumed: {answers}.",
            hint="Give other values with --set where you know them.",
        ),
        Message(
            code="answers_misspelt",
            text="Nothing that the estimate ran takes the value given for {names}; did you mean {near}?",
        ),
        Message(
            code="answers_untaken",
            text="Nothing that the estimate ran takes the value given for {names}; it takes one for {others}.",
        ),
        Message(
            code="answers_untaken_alone",
            text="Nothing that the estimate ran takes the value given for {names}.",
        ),
        Message(
            code="modules_passed_by",
            text="The kernel's Python has no module {modules}: a job would end at its import. The figure holds "
            "without it.",
            hint="Install it before you submit, the job runs these lines: `%pip install {install}`",
        ),
        Message(
            code="batches_pile_up",
            text="The data set gives single arrays; Paddle keeps such batches until Python's garbage collector runs, "
            "up to a hundred and more, which are not in this figure.",
            hint="Let __getitem__ give a tuple, as in `return (image,)`: then no batch stays.",
        ),
        Message(
            code=WHOLE_GRAPH,
            text="Each step takes in a whole graph of {nodes} nodes: part of them would be other data, so no smaller "
            "batch is offered.",
            hint="To train on parts, draw neighbors in each step (paddle.geometric.sample_neighbors).",
        ),
        Message(
            code="data_parallel",
            text="The figure is for one of {devices} devices, with the buffers in which DataParallel gathers "
            "gradients.",
            hint="On a single device there are none; they are as large as the gradients.",
        ),
        Message(
            code="history_full",
            text="L-BFGS keeps what its last {pairs} iterations changed; the figure is of a step that has so many.",
            hint="A smaller history_size takes less; a training that ends earlier takes less as well.",
        ),
        Message(
            code="data_parallel_single",
            text="DataParallel does nothing in a single process; the figure is for one device.",
            hint="Ask for several devices (--devices): each then also holds buffers as large as the gradients.",
        ),
        Message(
            code="sharded",
            text="The figure is for that one of {devices} devices which holds most under sharding stage {stage}.",
            hint="Which part is whose follows Paddle's own rules, run without data; the range has what "
            "NCCL's sources say of its buffers.",
        ),
        Message(
            code="tensor_parallel",
            text="The figure is for one of {devices} devices; {degree} of them share each divided layer.",
            hint="Which part is whose follows Paddle's own layers, run without data; what their kernels for GPUs take "
            "is read in Paddle's sources.",
        ),
        Message(
            code="pipeline",
            text="The figure is for stage {stage} of {stages} of a pipeline, with {batches} micro-batches in flight.",
            hint="The other stages were traced as well, where they could be followed: the largest figure is shown "
            "({devices} devices).",
        ),
        Message(
            code="sharding_single",
            text="Sharding stage {stage} divides among several processes, and nothing says how many there are; the "
            "figure is that of a device which holds everything.",
            hint="Ask again for a number of devices (--devices).",
        ),
        Message(
            code="fleet_alone",
            text="In a single process Paddle's fleet takes no model but a PipelineLayer.",
            hint="Ask for several devices (--devices), or leave fleet.distributed_model out where one trains alone.",
        ),
        Message(
            code="fleet_not_begun",
            text="Paddle's fleet takes neither a model nor an optimizer before fleet.init.",
            hint="Call fleet.init(is_collective=True) first, or leave fleet out where one trains alone.",
        ),
        Message(
            code="distribution_left_out",
            text="{name} asks for a kind of distribution that is not followed; nothing was divided by it.",
            hint="Each device holds less than this figure.",
        ),
        Message(
            code="auto_parallel",
            text="{name} belongs to automatic parallelism, which is followed behind paddle.distributed.to_static "
            "alone; in dynamic mode nothing was divided.",
            hint="Each device holds less than this figure.",
        ),
        Message(
            code="legacy_operator",
            text="The operator {op} is called through an old interface; its successor was traced.",
        ),
        Message(
            code="unknown_shape",
            text="The size of what {op} returns depends on values that are not computed here; the largest was assumed.",
        ),
        Message(
            code="unknown_shape_line",
            text="The size of what {op} returns depends on values that are not computed here{place}; the largest was "
            "assumed.",
            hint="The lower end of the range is for the smallest, where the program runs with it.",
        ),
        Message(
            code="unknown_shape_share",
            text="{op} selects by which of {classes} classes was chosen{place}; an equal share for each was assumed.",
            hint="Balance losses train for equal shares. Uneven ones take more: the upper end of the range is for "
            "everything selected each time.",
        ),
        Message(
            code="evaluation_cut",
            text="The evaluation between epochs takes long to trace; what it collects is not counted.",
            hint="Tensors that an evaluation keeps in a list stay on the device during the next epoch.",
        ),
        Message(
            code="trainings_cut",
            text="Further trainings were looked for until the time for that was over.",
            hint="Run the cells that take long (data, plots) behind the trainings.",
        ),
        Message(
            code="few_steps",
            text="The notebook ends after its first training step, so the figure is that of a first step.",
            hint="A second step also holds the gradients of the first one; train for at least two steps to see it.",
        ),
        Message(
            code="step_cut",
            text="Behind the first training step the estimate ended with an error (cell {cell}, line {line}): {error}. "
            "The figure is that of a first step.",
            hint="A job ends there as well, unless the error comes of numbers that are not computed here.",
        ),
        Message(
            code="no_backward",
            text="The optimizer steps{place} without a backward pass: nothing is learned.",
            hint="Call `loss.backward()` before `optimizer.step()`.",
        ),
        Message(
            code="no_gradients",
            text="No gradient arrives at what the optimizer updates{place}: nothing is learned.",
            hint="Clear gradients behind `optimizer.step()`, not before it. The loss has to come of the parameters "
            "that this optimizer was given, without `detach()` and outside of `paddle.no_grad()`.",
        ),
        Message(
            code="gradients_add_up",
            text="Gradients are not cleared between two updates{place}: each update sums all gradients before it.",
            hint="Call `optimizer.clear_grad()` behind `optimizer.step()`, unless that is meant.",
        ),
        Message(
            code="never_steps",
            text="A backward pass runs{place}, and no optimizer steps: nothing is learned.",
            hint="Call `optimizer.step()` behind `loss.backward()`, and `optimizer.clear_grad()` behind that.",
        ),
        Message(
            code="both_refused",
            text="As it is, the notebook does not take images of {images} × {images} pixels with sequences of length "
            "{length}.",
            hint="Ask for one of the two to see which of them the model refuses.",
        ),
        Message(
            code="size_unreached",
            text="With the size that was asked for ({asked}) the notebook reaches no training step.",
            hint="Change it in the notebook and run it once to see what happens.",
        ),
        *BATCHES,
        *GRAPHS,
        *LIVE,
        *OF_STEPS,
        *STAND_INS,
        *(message for what_if in WHAT_IFS for message in (*what_if.notes, *what_if.kept)),
    )
}
"""Sentences of the tracer's notes by code; those on a single what-if stand in its declaration."""
KEPT = frozenset(message.code for what_if in WHAT_IFS for message in what_if.kept)
"""Notes of a trace whose step is not the one that was asked for."""
_OF_FIGURE = frozenset(("data_described", "data_followed"))
"""Notes whose hint speaks of the figure."""
UNTRACEABLE = frozenset(("cell_failed", "ends_itself", "operator_unfollowed"))
"""Reasons for which a real step may still give an answer: the fault may be the tracing's, not the notebook's."""
_PLACED = frozenset(code for code, message in NOTES.items() if "{place}" in message.text)
_SIZED = frozenset((MORE_ELSEWHERE, WAITS, *(message.code for message in LEFT_BEHIND)))
_PLACE = Message(code="place", text=" (cell {cell}, line {line})")
_OTHER = Message(code="tracer_note", text="The tracer says: {code} {details}")


def note(traced: TracedNote) -> Message:
    """A note's sentence."""
    params: dict[str, Param] = {name: value for name, value in traced.params.items() if name != FAULT}
    if traced.code == "modules_passed_by":
        params["install"] = packages.names(str(params["modules"]))
    code = traced.code + AT_MOST if "most" in params else traced.code
    if code in _SIZED:
        params["size"] = human(int(params["size"]) * int(params.get("most", 1)))  # type: ignore[arg-type]
    if code in _PLACED or "hides" in params:
        where = {name: params[name] for name in ("cell", "line") if name in params}
        params["place"] = msgspec.structs.replace(_PLACE, params=where) if len(where) == 2 else ""
    if code == "data_absent" and "hides" in params:
        code = "data_hides"
    elif code == "data_absent" and "answered" in params:
        given = "settings_given_in_part" if params.get("lacks") else "settings_given"
        code = given if "given" in params else "settings_absent"
    elif code == "data_absent":
        code = "data_absent_of_set" if "data_set" in params else code if params.get("line") else "data_absent_unplaced"
    return _sentence(NOTES, code, params)


def without_figure(told: Message) -> Message:
    """A note's sentence where there is no figure that its hint could speak of."""
    return msgspec.structs.replace(told, hint="") if told.code in _OF_FIGURE else told


def question(traced: TracedQuestion) -> Question:
    """A question with its reason as a sentence."""
    params = {"name": traced.name, **traced.params}
    why = _sentence(QUESTIONS, traced.why, params)
    if (known := stated(traced.why, traced.name, traced.params)) is not None:
        why = msgspec.structs.replace(why, text=known[0], params={**params, "name": known[1]})
    if source := SOURCES.get(str(traced.params.get("source"))):
        why = msgspec.structs.replace(why, hint=ENDS if "end" in traced.params else source)
    elif traced.suggestion is None and "tried" in traced.params:
        is_one = traced.params["tried"] == 1
        ended = (ONE_TRIED if is_one else UNSUGGESTED)["batch" if traced.kind == "batch" else "value"]
        unreached = ONE_UNREACHED if is_one else UNREACHED
        why = msgspec.structs.replace(why, hint=ended if "end" in traced.params else unreached)
    elif "alone" in traced.params:
        why = msgspec.structs.replace(why, hint=PATH_ALONE)
    return Question(
        name=traced.name,
        kind=traced.kind,
        why=why,
        where=Place(traced.cell, traced.line or 1) if traced.cell is not None else None,
        suggestion=traced.suggestion,
        holders=traced.holders,
    )


def _sentence(table: dict[str, Message], code: str, params: Mapping[str, Param]) -> Message:
    template = table.get(code)
    if template is None:
        details = ", ".join(f"{name} {value}" for name, value in params.items())
        return msgspec.structs.replace(_OTHER, params={"code": code, "details": details})
    return template.filled(**params)
