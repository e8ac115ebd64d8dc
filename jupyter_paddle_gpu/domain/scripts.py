"""What is said of a notebook, said of a script, which has no cells: its lines are those of its file."""

from __future__ import annotations

import re

import msgspec

from .messages import Message

OF_SCRIPT = {
    " (cell {cell}, line {line})": Message(code="script", text=" (line {line})"),
    "The notebook holds {trainings} trainings; this is the one that needs most.": Message(
        code="script", text="The script holds {trainings} trainings; this is the one that needs most."
    ),
    "This notebook trains with {framework}; only trainings of Paddle are estimated.": Message(
        code="script", text="This script trains with {framework}; only trainings of Paddle are estimated."
    ),
    "This notebook trains with {framework}; only trainings of Paddle are changed.": Message(
        code="script", text="This script trains with {framework}; only trainings of Paddle are changed."
    ),
    "No training step was found in this notebook.": Message(
        code="script", text="No training step was found in this script."
    ),
    "The training in cell {cell}, line {line} was not reached; what it needs is not known.": Message(
        code="script", text="The training in line {line} was not reached; what it needs is not known."
    ),
    "The notebook ends after its first training step, so the figure is that of a first step.": Message(
        code="script", text="The script ends after its first training step, so the figure is that of a first step."
    ),
    "Behind the first training step the estimate ended with an error (cell {cell}, line {line}): {error}. The figure "
    "is that of a first step.": Message(
        code="script",
        text="Behind the first training step the estimate ended with an error (line {line}): {error}. The figure is "
        "that of a first step.",
    ),
    "Numbers drawn at random are out of bounds in {refused} of {of} draws: the job ends in cell {cell}, line {line}, "
    "by the first such one: {error}": Message(
        code="script",
        text="Numbers drawn at random are out of bounds in {refused} of {of} draws: the job ends in line {line}, by "
        "the first such one: {error}",
    ),
    "Outputs of {op} have no bounds, so the job most likely ends in cell {cell}, line {line}: {error}": Message(
        code="script",
        text="Outputs of {op} have no bounds, so the job most likely ends in line {line}: {error}",
    ),
    "{wanted} is not on this machine. Where it is not there either, the job reads one that holds what was answered "
    "(cell {cell}, line {line}).": Message(
        code="script",
        text="{wanted} is not on this machine. Where it is not there either, the job reads one that holds what was "
        "answered (line {line}).",
    ),
    "{wanted} is not on this machine. Where it is not there either, the job reads one that holds what was answered "
    "(cell {cell}, line {line}), and ends where it takes of it what was not: {lacks}.": Message(
        code="script",
        text="{wanted} is not on this machine. Where it is not there either, the job reads one that holds what was "
        "answered (line {line}), and ends where it takes of it what was not: {lacks}.",
    ),
    "Cell {cell}, line {line} takes index {index} of an axis with {size} places, and Paddle does not check it: the "
    "step reads what stands in memory there, or the job crashes.": Message(
        code="script",
        text="Line {line} takes index {index} of an axis with {size} places, and Paddle does not check it: the step "
        "reads what stands in memory there, or the job crashes.",
    ),
    "In cell {cell}, line {line} “{function}” returns before its training, since this holds: {test}": Message(
        code="script", text="In line {line} “{function}” returns before its training, since this holds: {test}"
    ),
    "A condition that is not computed here decides whether the job ends in cell {cell}, line {line}: {error}": Message(
        code="script",
        text="A condition that is not computed here decides whether the job ends in line {line}: {error}",
    ),
    "Cell {cell}, line {line}, wants {wanted}, which an estimate does without.": (
        Message(
            code="script",
            text="Line {line} wants {wanted}, which an estimate does without.",
        )
    ),
    "Answers stand for what {wanted} says, in the estimate alone; the job reads the file itself in cell {cell}, line "
    "{line}, and ends there without it.": Message(
        code="script",
        text="Answers stand for what {wanted} says, in the estimate alone; the job reads the file itself in line "
        "{line}, and ends there without it.",
    ),
    "An estimate does without the data of {data_set} (cell {cell}, line {line}), but for the shape of its batches.": (
        Message(
            code="script",
            text="An estimate does without the data of {data_set} (line {line}), but for the shape of its batches.",
        )
    ),
    "Cell {cell}, line {line} does something with a static graph (paddle.enable_static()) that is not followed, so "
    "there is no training step to show.": Message(
        code="script",
        text="Line {line} does something with a static graph (paddle.enable_static()) that is not followed, so there "
        "is no training step to show.",
    ),
    "Cell {cell}, line {line} belongs to a static graph, which is not followed: the figure is for the training in "
    "dynamic mode.": Message(
        code="script",
        text="Line {line} belongs to a static graph, which is not followed: the figure is for the training in dynamic "
        "mode.",
    ),
    "The training needs the module “{module}” in cell {cell}, line {line}; it is neither in the kernel's Python nor "
    "beside the notebook.": Message(
        code="script",
        text="The training needs the module “{module}” in line {line}; it is neither in the kernel's Python nor beside "
        "the script.",
    ),
    "In cell {cell}, line {line} the estimate goes no further: {why}": Message(
        code="script", text="In line {line} the estimate goes no further: {why}"
    ),
    "Cell {cell} is not valid Python: {error} (line {line}).": Message(
        code="script", text="The script is not valid Python: {error} (line {line})."
    ),
    "Open question: {names}. The job runs without it, and ends in cell {cell}, line {line} where nothing sets it.": (
        Message(
            code="script",
            text="Open question: {names}. The job runs without it, and ends in line {line} where nothing sets it.",
        )
    ),
    "Open question: {names}. The job looks for it where it runs, in cell {cell}, line {line}, and ends there without "
    "it.": Message(
        code="script",
        text="Open question: {names}. The job looks for it where it runs, in line {line}, and ends there without it.",
    ),
    "Open question: {names}. The job runs cell {cell}, line {line} as it stands, and ends there if it cannot.": Message(
        code="script",
        text="Open question: {names}. The job runs line {line} as it stands, and ends there if it cannot.",
    ),
    "Several backward passes or updates are written by hand (the next one in cell {cell}, line {line}), and which of "
    "them belong together cannot be read.": Message(
        code="script",
        text="Several backward passes or updates are written by hand (the next one in line {line}), and which of them "
        "belong together cannot be read.",
    ),
    "The loop clips gradients itself (cell {cell}, line {line}), which float16 has multiplied by its scaler's "
    "factor.": Message(
        code="script",
        text="The loop clips gradients itself (line {line}), which float16 has multiplied by its scaler's factor.",
    ),
    "The notebook has several optimizers (the next one in cell {cell}, line {line}), and which models several "
    "processes would train cannot be read.": Message(
        code="script",
        text="The script has several optimizers (the next one in line {line}), and which models several processes "
        "would train cannot be read.",
    ),
    "The notebook trains several times (again in cell {cell}, line {line}), and the change would be of the first "
    "training alone.": Message(
        code="script",
        text="The script trains several times (again in line {line}), and the change would be of the first training "
        "alone.",
    ),
    "Several statements stand in one line where the change would go (cell {cell}, line {line}).": Message(
        code="script", text="Several statements stand in one line where the change would go (line {line})."
    ),
    "The call that would be given {name}= takes **{options}, which may say it already (cell {cell}, line "
    "{line}).": Message(
        code="script",
        text="The call that would be given {name}= takes **{options}, which may say it already (line {line}).",
    ),
    "The loader takes **{options} (cell {cell}, line {line}), which says how its batches are made, so that no sampler "
    "for several processes can be put in that place.": Message(
        code="script",
        text="The loader takes **{options} (line {line}), which says how its batches are made, so that no sampler for "
        "several processes can be put in that place.",
    ),
    "Cell {cell}, line {line} failed: {name}: {value}": Message(
        code="script", text="Line {line} failed: {name}: {value}"
    ),
    "Cell {cell}, line {line} got no memory for what it asked: {error}": Message(
        code="script", text="Line {line} got no memory for what it asked: {error}"
    ),
    "Cell {cell} got no memory for what it asked: {error}": Message(
        code="script", text="The script got no memory for what it asked: {error}"
    ),
    "Cell {cell} failed: {name}: {value}": Message(code="script", text="The script failed: {name}: {value}"),
    "The traceback is in the log and in the executed notebook. Correct the cell and submit again.": Message(
        code="script", text="The traceback is in the log. Correct the script and submit again."
    ),
    "Put `%pip install {package}` into the first cell, or for a container {package} into requirements.txt beside the "
    "notebook, and submit again.": Message(
        code="script",
        text="Install {package} (`python -m pip install {package}`) for the Python that runs the script, or put it for "
        "a container into requirements.txt beside the script, and submit again.",
    ),
    "It was process {rank} of the training: `jupyter paddle-gpu logs {job} --rank {rank}` has the traceback. Correct "
    "the cell and submit again.": Message(
        code="script",
        text="It was process {rank} of the training: `jupyter paddle-gpu logs {job} --rank {rank}` has the traceback. "
        "Correct the script and submit again.",
    ),
    "Look for a typing error. A job runs the cells from the first one on in a new kernel, so {name} has to be defined "
    "in a cell above.": Message(
        code="script", text="Look for a typing error: {name} has to be defined before it is used."
    ),
    "A process that `spawn` started has ended at once; its own error stands before this one in the log. It finds no "
    "function of a cell: call that one without `spawn`, as a job on several devices runs once for each of them, or "
    "import it from a module beside the notebook.": Message(
        code="script",
        text="A process that `spawn` started has ended at once; its own error stands before this one in the log. Call "
        "the function without `spawn`, as a job on several devices runs once for each of them, or import it from a "
        "module beside the script.",
    ),
    "A job looks for {file} from the notebook's own folder. Put it there, or name the whole path.": Message(
        code="script", text="A job looks for {file} from the script's own folder. Put it there, or name the whole path."
    ),
    "The notebook's process crashed in native code ({name}).": Message(
        code="script", text="The script's process crashed in native code ({name})."
    ),
    "The notebook's process was killed from outside ({name}).": Message(
        code="script", text="The script's process was killed from outside ({name})."
    ),
    "The notebook ended its own process with status {exit_code} before its last cell.": Message(
        code="script", text="The script ended its own process with status {exit_code} before its end."
    ),
    "Stopped. The notebook and the log are kept as far as they got.": Message(
        code="script", text="Stopped. The log is kept as far as it got."
    ),
    "Write large files beside the notebook, or into the folder that PADDLE_GPU_CHECKPOINTS names.": Message(
        code="script",
        text="Write large files beside the script, or into the folder that PADDLE_GPU_CHECKPOINTS names.",
    ),
    "The log and the notebook are kept as far as they got. Submit again.": Message(
        code="script", text="The log is kept as far as it got. Submit again."
    ),
    "The job's log has the details. If the notebook opens in JupyterLab, please report this.": Message(
        code="script", text="The job's log has the details. If the script runs by itself, please report this."
    ),
    "The Python of the notebook's kernel cannot be started: {python}": Message(
        code="script", text="The Python that was to run the script cannot be started: {python}"
    ),
    "Choose another kernel for the notebook, or install this one again.": Message(
        code="script", text="Choose another Python for the script, or install this one again."
    ),
    "The notebook's folder does not exist: {folder}": Message(
        code="script", text="The script's folder does not exist: {folder}"
    ),
    "Save the notebook and submit it from where it lies now.": Message(
        code="script", text="Save the script and submit it from where it lies now."
    ),
    "Put it where the notebook looks for it, relative to the notebook's folder.": Message(
        code="script",
        text="Correct the path, or put it there: it is looked for from the folder in which the script is started.",
    ),
    "The cell fails when it is run up to the first training step: {error}: {message}": Message(
        code="script", text="The script fails before its first training step: {error}: {message}"
    ),
    "Run the notebook from its first cell in a fresh kernel to see the same fault.": Message(
        code="script", text="Run the script to see the same fault."
    ),
    "The notebook wanted to change “{target}”; an estimate changes no file.": Message(
        code="script", text="The script wanted to change “{target}”; an estimate changes no file."
    ),
    "The notebook wanted to start a program ({target}); an estimate starts none.": Message(
        code="script", text="The script wanted to start a program ({target}); an estimate starts none."
    ),
    "If that stopped the estimate, move that line behind the training or into a cell of its own with “!”.": Message(
        code="script", text="If that stopped the estimate, move that line behind the training."
    ),
    "Run that cell once in a kernel; then the estimate finds the data.": Message(
        code="script", text="Run the script once; then the estimate finds the data."
    ),
    "Correct the cell; the other cells were read.": Message(code="script", text="Correct it, and estimate again."),
    "Define it above: a cell there may have failed or may have been left out.": Message(
        code="script", text="Define it before that line."
    ),
    "The process in which the notebook's code ran crashed ({signal}) in cell {cell}, line {line}.": Message(
        code="script", text="The process in which the script's code ran crashed ({signal}) in line {line}."
    ),
    "Run the cells once in a kernel; where they run there, please report this notebook to us.": Message(
        code="script", text="Run the script once; where it runs, please report it to us."
    ),
    "Run the cells that take long (data, plots) behind the trainings.": Message(
        code="script", text="Do what takes long (data, plots) behind the trainings."
    ),
    "Make the folder in a cell before: os.makedirs(…, exist_ok=True)": Message(
        code="script", text="Make the folder before that line: os.makedirs(…, exist_ok=True)"
    ),
    "It may hang on an open question, on a cell that fails before it, or on time.": Message(
        code="script", text="It may hang on an open question, on a line that fails before it, or on time."
    ),
    "All cells ran.": Message(code="script", text="The script ran to its end."),
}
"""What stands in place of texts and of hints, where other words alone would not do."""
_CELLS = re.compile(r"\b(in|into|from) the cells\b")
_NOTEBOOK = re.compile(r"\b([Nn])otebook\b(?!['’]s kernel menu)")
_OF_NOTEBOOKS = re.compile(r"\bcells?\b|\{cell\}|[Nn]otebook", re.IGNORECASE)
_FIELD = re.compile(r"\{\w+\}")


def in_script_words(text: str) -> str:
    """A sentence of notebooks with a script's words: "beside the notebook" is "beside the script".

    One that speaks of a cell stays as it is: it needs a sentence of its own in `OF_SCRIPT`.
    """
    said = _CELLS.sub(r"\1 the script", text)
    said = _NOTEBOOK.sub(lambda found: "script" if found[1] == "n" else "Script", said)
    return text if _OF_NOTEBOOKS.search(_FIELD.sub("", said)) or _FIELD.findall(said) != _FIELD.findall(text) else said


def of_script(message: Message) -> Message:
    """The same sentence, with those within it, as it is said of a script."""
    text, hint = (
        OF_SCRIPT[one].text if one in OF_SCRIPT else in_script_words(one) for one in (message.text, message.hint)
    )
    within = {name: of_script(one) for name, one in message.params.items() if isinstance(one, Message)}
    return msgspec.structs.replace(message, text=text, hint=hint, params={**message.params, **within})


def is_script(path: str) -> bool:
    """Whether what a job runs is a script; else it is a notebook."""
    return path.endswith(".py")


def said_of(path: str, message: Message) -> Message:
    """What is said of the notebook at `path`, or of the script."""
    return of_script(message) if is_script(path) else message
