"""What is said of scripts has lines, and no cells."""

import ast
import inspect
import re

import pytest

from jupyter_paddle_gpu.domain.jobs import reasons
from jupyter_paddle_gpu.domain.jobs.reasons import cell_error, succeeded
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.mistakes import explanations
from jupyter_paddle_gpu.domain.scripts import OF_SCRIPT, in_script_words, of_script, said_of
from jupyter_paddle_gpu.estimator import messages, packages, questions
from jupyter_paddle_gpu.estimator.translate import NOTES
from jupyter_paddle_gpu.notebook import cells, inspection


def sentences(module) -> set[str]:
    """All texts and hints in a module."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Call)]
    given = [word.value for call in calls for word in call.keywords if word.arg in {"text", "hint"}]
    return {one.value for one in given if isinstance(one, ast.Constant)}


def test_every_note_of_a_place_has_words_for_scripts():
    placed = {note.text for note in NOTES.values() if "{cell}" in note.text}
    assert placed <= OF_SCRIPT.keys()


def test_no_words_for_scripts_speak_of_cells():
    for text, message in OF_SCRIPT.items():
        assert "cell" not in message.text.lower() and "notebook" not in message.text
        assert ("{line}" in message.text) == ("{line}" in text)


def test_every_end_of_a_job_has_words_for_scripts():
    of_notebooks = re.compile(r"\b(cells?|notebook)\b", re.IGNORECASE)
    said = set()
    for module in (reasons, explanations):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call):
                given = (*node.args, *(word.value for word in node.keywords))
                said |= {one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)}
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                said.add(node.value.value)
    # Patterns of errors are said to nobody.
    placed = {one for one in said if isinstance(one, str) and "\\" not in one and of_notebooks.search(one)}
    placed = {one for one in placed if " " in one}
    assert len(placed) > 15
    assert {one for one in placed if of_notebooks.search(of_script(Message(code="", text=one)).text)} == set()


def test_what_an_estimate_says_of_a_script_speaks_of_no_notebook():
    said = {text for module in (messages, packages, questions, inspection, cells) for text in sentences(module)}
    of_cells = re.compile(r"\bcells?\b|kernel menu|`spawn`|Edit, Clear", re.IGNORECASE)
    left = {of_script(Message(code="", text=one)).text for one in said}
    assert len(said) > 100
    assert {one for one in left if re.search(r"[Nn]otebook", one) and not of_cells.search(one)} == set()
    assert of_script(messages.NO_TRAINING).text == "No training step was found in this script."
    assert (
        in_script_words("Put it beside the notebook, or into the cells.")
        == "Put it beside the script, or into the script."
    )


@pytest.mark.parametrize(
    "text", ["`estimate {notebook}`", "Write it in a cell of the notebook.", "Two notebooks.", "`ipynb`"]
)
def test_a_sentence_that_other_words_would_make_wrong_stays(text):
    assert in_script_words(text) == text


def test_what_is_said_of_a_notebook_stays():
    assert said_of("/here/lesson.ipynb", succeeded()) == succeeded()
    assert said_of("/here/train.py", reasons.exited(3)).render() == (
        "The script ended its own process with status 3 before its end."
    )


def test_the_name_that_a_shell_gives_a_cell_is_left_out():
    error = cell_error(0, 4, "SyntaxError", "invalid syntax (<ipython-input-2-9f3372e155a9>, line 4)")
    assert error.render() == "Cell 1, line 4 failed: SyntaxError: invalid syntax"
    assert explanations.plain("invalid syntax (helper.py, line 4)") == "invalid syntax (helper.py, line 4)"


def test_a_hint_is_said_of_the_script_too():
    said = of_script(cell_error(1, 7, "KeyError", "'a'"))
    assert (said.render(), said.render_hint()) == (
        "Line 7 failed: KeyError: 'a'",
        "The traceback is in the log. Correct the script and submit again.",
    )


def test_a_script_has_no_cells_that_ran():
    assert of_script(succeeded()).render() == "The script ran to its end."


def test_a_sentence_within_one_is_put_in_words_too():
    place = Message(code="place", text=" (cell {cell}, line {line})", params={"cell": 2, "line": 7})
    note = Message(code="note", text="A condition{place}.", params={"place": place})
    assert of_script(note).render() == "A condition (line 7)."
    assert of_script(Message(code="other", text="Nothing.")) == Message(code="other", text="Nothing.")
