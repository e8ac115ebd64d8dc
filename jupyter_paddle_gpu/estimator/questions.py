"""The questions of an estimate as sentences, and where the suggestion of an answer comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..domain.messages import Message, Param

QUESTIONS: dict[str, Message] = {
    message.code: message
    for message in (
        Message(
            code="download",
            text="The notebook wants to download {url}; an estimate downloads nothing.",
            hint="Run that cell once in a kernel; then the estimate finds the data.",
        ),
        Message(
            code="program",
            text="The notebook wanted to start a program ({target}); an estimate starts none.",
            hint="If that stopped the estimate, move that line behind the training or into a cell of its own with “!”.",
        ),
        Message(
            code="file_missing",
            text="The file “{path}” is not there.",
            hint="Put it where the notebook looks for it, relative to the notebook's folder.",
        ),
        Message(
            code="path_missing",
            text="“{path}” is not where the notebook looks for it.",
            hint="Name the place where it is; the job looks there too. Nothing of that name lies at or below the "
            "notebook's folder; if it is nowhere, leave this open.",
        ),
        Message(
            code="batch_unseen",
            text="The data of {name} is not on this machine; what does one of its batches look like?",
            hint="Name type and shape of each of its tensors, as float32[10,3,224,224] int64[10,1].",
        ),
        Message(
            code="live_batch",
            text="What goes into {name} is not known; what does one batch look like?",
            hint="Name type and shape of each of its tensors, as float32[10,3,224,224] int64[10,1].",
        ),
        Message(
            code="tensor_unseen",
            text="{name} is made of data that is not on this machine; what does it look like?",
            hint="Name its type and shape, as float32[404,13].",
        ),
        Message(
            code="tensor_between",
            text="{tensor} comes of the model and of data that is not on this machine: described by itself, it would "
            "leave the model out of the training.",
            hint="Have the data where the notebook looks for it, and estimate again.",
        ),
        Message(
            code="number_unseen",
            text="{name} is computed from data that is not on this machine.",
            hint="Give the number that it has with the data.",
        ),
        Message(
            code="choice_unseen",
            text="{name} stands in a file that is not on this machine, and what is trained hangs on it.",
            hint="Give the text that stands there.",
        ),
        Message(
            code="list_unseen",
            text="{name} is a list in a file that is not on this machine, and layers are made of it.",
            hint="Give the list, as [64, 64].",
        ),
        Message(
            code="length_unseen",
            text="How many entries the data has is not known: it is not on this machine.",
            hint="Give their number.",
        ),
        Message(
            code="argument_missing",
            text="The program requires the argument {name}.",
            hint="Give its value: it is given in the job too.",
        ),
        Message(
            code="subcommand_missing",
            text="The program does one of several things, and was not given which ({name}).",
            hint="Give the one that trains: it is given in the job too.",
        ),
        Message(
            code="words_missing",
            text="The program trains nothing with the command line that it has.",
            hint="Give the words that stand behind its name: they are given in the job too.",
        ),
        Message(
            code="argument_trains",
            text="With its argument {name} as it is the program trains nothing.",
            hint="Give what it trains with: it is given in the job too.",
        ),
        Message(
            code="place_missing",
            text="The script reads argument {place} of its command line, which it was not given.",
            hint="Give its value: it is given in the job too.",
        ),
        Message(
            code="argument_absent",
            text="“{path}”, which the argument {name} names, is not here.",
            hint="Give the file that it is to name: it is given in the job too.",
        ),
        Message(
            code="input_missing",
            text="The program waits for a person to type {name}.",
            hint="Give what would be typed: it is taken in the job too.",
        ),
        Message(
            code="environment_missing",
            text="The environment variable {name} is not set.",
            hint="Give its value: it is set in the job too.",
        ),
        Message(
            code="setting_missing",
            text="The configuration leaves the setting {name} open.",
            hint="Give its value: it is given in the job too.",
        ),
        Message(
            code="name_missing",
            text="The name “{name}” is used before it has a value.",
            hint="Define it above: a cell there may have failed or may have been left out.",
        ),
        Message(
            code="time_up",
            text="Time was up before the notebook's code had reached a training step; this is where it was.",
            hint="Let less happen before the first step: fewer samples, games or turns of the loop.",
        ),
        Message(
            code="operator_of_gpus",
            text="The operator {operator} is only in a Paddle for GPUs: its step cannot be traced by the one here.",
            hint="Estimate with the plain layers that it stands for: they take as much or more.",
        ),
        Message(
            code="operator_unfollowed",
            text="An estimate does not follow {operator}: what it takes hangs on the numbers of its tensors.",
            hint="Submit it all the same: what it takes is measured as it runs, and stands with the job.",
        ),
        Message(
            code="configuration_unseen",
            text="The model {name} is not on this machine, and its name tells no family and size that PaddleNLP has.",
            hint="Load it once in a kernel, or give a folder that holds its `config.json` in place of the name.",
        ),
        Message(
            code="cell_failed",
            text="The cell fails when it is run up to the first training step: {error}: {message}",
            hint="Run the notebook from its first cell in a fresh kernel to see the same fault.",
        ),
        Message(
            code="ends_itself",
            text="The program ends itself before its first training step, with exit status {message}. It says last: "
            "{said}",
            hint="Correct what it says there, and estimate again.",
        ),
    )
}
"""Sentences of the tracer's questions by the code of their reason."""
IN_MODULES = {
    "file_missing": "The file “{path}” is not there, which {beside} wants in line {inner}.",
    "path_missing": "“{path}” is not where {beside}, line {inner}, looks for it.",
    "number_unseen": "{name}, which {beside} takes in line {inner}, is computed from data that is not on this machine.",
}
"""The same of what a module beside the notebook wants."""
OF_FILE = "{name} is computed from {file}, which is not on this machine."
OF_FILE_FOR = "{name} is computed from {file}, which is not on this machine; a layer takes it as {sizes}."
"""Of a number that is computed from a file that is known, and what it is for."""
SOURCES = {
    "kernel": "The suggestion is what the notebook's kernel holds.",
    "near": "Something of that name lies at the place that is suggested.",
    "home": "That is a hosted notebook's home: here it is the notebook's own folder.",
    "documented": "The suggestion is what a command in a document beside the program gives.",
    "code": "The suggestion is one of those that the program knows by name.",
    "alone": "The suggestion is what a launcher would say to a single process, as a job on one device is.",
    "any": "The suggestion is assumed: nothing in the program says what it is.",
    "printed": "The suggestion is what the notebook's saved outputs show.",
    "stated": "The suggestion is what stands in words beside it in the code: {said}",
    "published": "The suggestion is the published size of the data that the cells name.",
    "cells": "The suggestion follows from constants and transforms in the cells and from the first layer.",
    "layer": "The suggestion is what the first layer takes.",
    "untried": "The suggestion is assumed, and was not tried to its end: the time for it was up.",
    "assumed": "The suggestion is assumed: nothing in the notebook says all of it.",
}
"""Where a suggestion comes from, in place of a question's next step."""
ENDS = "The suggestion is assumed: the first layers take it, and with it the program ends ({end})."
"""In place of that where a batch is suggested with which no training is reached."""
UNSUGGESTED = {
    "batch": "Name type and shape of each of its tensors, as float32[10,3,224,224] int64[10,1]. Nothing is suggested: "
    "all {tried} that were tried end the program ({end}).",
    "value": "Give its value. Nothing is suggested: all {tried} that were tried end the program ({end}).",
}
"""Why nothing is suggested where suggestions were tried, by the kind of the question."""
ONE_TRIED = {
    "batch": "Name type and shape of each of its tensors, as float32[10,3,224,224] int64[10,1]. Nothing is suggested: "
    "the only one that was tried ends the program ({end}).",
    "value": "Give its value. Nothing is suggested: the only one that was tried ends the program ({end}).",
}
"""The same where it was one."""
UNREACHED = "Give its value. Nothing is suggested: none of {tried} that were tried leads to a training."
"""The same where the program ended with none of them."""
ONE_UNREACHED = "Give its value. Nothing is suggested: the only one that was tried leads to no training."
PATH_ALONE = (
    "Name the place where it is, as data/train.csv from the notebook's folder or as a whole path; the job looks there "
    "too. Nothing else that can be said leads to a step: if it is nowhere, put a small one of its form in that place."
)
"""In place of the next step of a path, where it alone is open."""
_FILE = re.compile(r"\w\.\w|/")
"""What the name of a file has, and that of a module or a data set has not."""


def stated(code: str, name: str, params: Mapping[str, Param]) -> tuple[str, str] | None:
    """The sentence of a question of which more is known, and what it calls what is asked for: the module that wants it,
    the file that it comes of; None where nothing is."""
    if "beside" in params and code in IN_MODULES:
        return IN_MODULES[code], name
    if code == "number_unseen" and _FILE.search(str(params.get("file", ""))):
        part = params.get("part")
        return OF_FILE_FOR if "sizes" in params else OF_FILE, f"{name} ({part})" if part else name
    return None
