"""What is said of scripts has lines, and no cells."""

from jupyter_paddle_gpu.domain.jobs.reasons import cell_error, succeeded
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.scripts import OF_SCRIPT, of_script
from jupyter_paddle_gpu.estimator.translate import NOTES


def test_every_note_of_a_place_has_words_for_scripts():
    placed = {note.text for note in NOTES.values() if "{cell}" in note.text}
    assert placed <= OF_SCRIPT.keys()


def test_no_words_for_scripts_speak_of_cells():
    for text, message in OF_SCRIPT.items():
        assert "cell" not in message.text.lower() and "notebook" not in message.text
        assert ("{line}" in message.text) == ("{line}" in text)


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
