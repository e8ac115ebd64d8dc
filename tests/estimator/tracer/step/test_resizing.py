"""Another image size or sequence length gives the step of the notebook that a person would have edited by hand."""

from __future__ import annotations

import pytest

from tests.estimator.tracer import resized_images, resized_sequences
from tests.estimator.tracer.resized_images import CNN, UNET, VIT
from tests.estimator.tracer.resized_sequences import GPT
from tests.estimator.tracer.scripts import HEAD, STEP

pytestmark = pytest.mark.paddle

CASES = {**resized_images.CASES, **resized_sequences.CASES}
REAL = (
    "volumes",
    "clips",
    "clips-last",
    "cnn",
    "unet",
    "plain-vit",
    "lstm",
    "conv1d",
    "gpt",
    "bert",
    "time-major",
    "sound",
)
FLAT = CNN.replace("nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(32, 10)", "nn.Flatten(), nn.Linear(32768, 10)")
LITERAL = VIT.replace("IMG_SIZE, PATCH = 64, 8", "PATCH = 8").replace("IMG_SIZE", "64").replace("img_size=64", "n=64")
TABLE = GPT.replace("nn.Embedding(block_size, width)", "nn.Embedding(48, width)").replace("block_size", "b")
WORDS = HEAD + "x = paddle.randn([8, 20])\nmodel = nn.Linear(20, 3)\noptimizer = paddle.optimizer.SGD(parameters="
WORDS += "model.parameters())\nfor step in range(9):\n    loss = model(x).mean()" + STEP
KEPT = CNN.replace("model(images[i:i + 16])", "model(F.interpolate(images[i:i + 16], [32, 32]))")
UNRELATED = "import numpy, paddle\nshown = paddle.rand([3, 64, 64]).reshape([12288])\n#---\n" + CNN
EARLY = CNN.rstrip() + "\n        raise ValueError"
AFTERWARDS = CNN.replace("for epoch in", "kept = [paddle.zeros([1]) for _ in range(2)]\nmodel.eval()\nfor epoch in")
AFTERWARDS = AFTERWARDS.rstrip() + "\n    raise ValueError"
UNFED = "import numpy as np\nrows = np.load('rows.npy')\nwidth = int(rows[0, 0])\n#---\n" + CNN.replace(
    "32, 10", "width, 10"
)
TWO_MODELS = FLAT + "#---\n" + CNN.replace("3, 64, 64", "3, 128, 128")
OTHERS = {
    "flat": (FLAT, {"image_size": 96}),
    "positions-parameter": (LITERAL.replace("img_size", "n"), {"image_size": 96}),
    "positions-table": (TABLE, {"sequence_length": 64}),
    "positions-table-shorter": (TABLE, {"sequence_length": 32}),
    "no-images": (WORDS, {"image_size": 96}),
    "no-sequences": (WORDS, {"sequence_length": 96}),
    "kept": (KEPT, {"image_size": 96}),
    "unrelated-cell": (UNRELATED, {"image_size": 96}),
    "fails-afterwards": (AFTERWARDS, {"image_size": 96}),
    "fails-behind-one-step": (EARLY, {"image_size": 96}),
    "first-of-two": (TWO_MODELS, {"image_size": 128, "training": "1"}),
    "most-of-two": (TWO_MODELS, {"image_size": 128}),
    "the-same": (VIT, {"image_size": 64}),
    "with-batch": (UNET, {"image_size": 48, "batch_size": 4}),
    "no-training": ("import paddle\nx = paddle.ones([3])", {"image_size": 96}),
    "missing-file": (UNFED, {"image_size": 96}),
    "missing-file-of-no-training": ("import numpy as np\nrows = np.load('rows.npy')", {"image_size": 96}),
}


def edited(source: str, edits: dict[str, str]) -> str:
    """The notebook as a person would have changed it."""
    for old, new in edits.items():
        assert old in source, old
        source = source.replace(old, new)
    return source


@pytest.fixture(scope="module")
def traced(run_child):
    sent = {name: (source, asked) for name, (source, asked, _) in CASES.items()} | OTHERS
    sources = {name: source for name, (source, _) in sent.items()}
    sources |= {f"{name} as it is": source for name, (source, _, _) in CASES.items()}
    sources |= {f"{name} by hand": edited(source, edits) for name, (source, _, edits) in CASES.items()}
    sources["with-batch by hand"] = UNET.replace("64, 64)", "48, 48)").replace("size=8", "size=4")
    return run_child("trace", sources, {name: asked for name, (_, asked) in sent.items()})


@pytest.fixture(scope="module")
def real(run_child):
    return run_child("real", {name: edited(CASES[name][0], CASES[name][2]) for name in REAL})


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_step_of_the_notebook_edited_by_hand(traced, name):
    found, by_hand, before = (traced[name + suffix] for suffix in ("", " by hand", " as it is"))
    assert by_hand["status"] == "ok", by_hand["questions"]
    assert found["status"] == "ok", found["notes"]
    assert found["peak"] == by_hand["peak"] != before["peak"]
    for said in ("inputs", "notes", "params"):
        assert found[said] == by_hand[said]
    asked = CASES[name][1]
    if "image_size" in asked:
        assert found["image_size"] == [asked["image_size"]] * 2 != before["image_size"]
    else:
        assert found["sequence_length"] == asked["sequence_length"] != before["sequence_length"]


@pytest.mark.parametrize("name", REAL)
def test_it_is_a_real_steps_peak(traced, real, name):
    assert real[name]["failure"] is None
    assert traced[name]["peak"] == pytest.approx(real[name]["peaks"][-1], abs=4)


def note(traced, name):
    found = traced[name]
    assert (found["status"], found["peak"], len(found["notes"])) == ("needs_input", None, 1), found
    return found["notes"][0], found["params"][0]


def stop(traced, name):
    found = traced[name]
    assert (found["status"], found["peak"], found["questions"]) == ("would_stop", None, [])
    return found["notes"], found["stop"]


def test_a_model_of_one_size_says_where_and_why(traced):
    codes, found = stop(traced, "flat")
    assert (codes, traced["flat"]["params"][0]["images"], found["cell"]) == (["image_refused"], 96, 0)
    assert FLAT.splitlines()[found["line"] - 1].strip().startswith("loss =")
    assert "73728" in found["error"] and "32768" in found["error"]
    assert "\n" not in found["error"] and "Hint" not in found["error"]
    codes, found = stop(traced, "positions-parameter")
    assert codes == ["image_refused"] and "self.positions" in LITERAL.splitlines()[found["line"] - 1]


def test_a_table_that_is_too_short_is_seen_without_data(traced):
    codes, found = stop(traced, "positions-table")
    assert codes == ["sequence_refused"] and "< 48" in found["error"] and "63" in found["error"]
    assert traced["positions-table-shorter"]["sequence_length"] == 32


def test_nothing_of_the_kind_and_what_stays_as_it_is(traced):
    assert note(traced, "no-images")[0] == "no_images"
    assert note(traced, "no-sequences")[0] == "no_sequences"
    assert note(traced, "kept") == ("image_kept", {"asked": 96, "height": 32, "width": 32})


def test_cells_that_have_no_part_in_it_may_fail(traced):
    assert traced["unrelated-cell"]["peak"] == traced["cnn"]["peak"]
    for name in ("unrelated-cell", "fails-afterwards", "fails-behind-one-step"):
        assert traced[name]["image_size"] == [96, 96], traced[name]["notes"]


def test_another_model_behind_one_that_fails_is_no_answer(traced):
    assert stop(traced, "first-of-two")[0] == ["image_refused"]


def test_what_is_asked_for_is_of_the_training_that_takes_most(traced):
    most = traced["most-of-two"]
    # The names of the first training are bound anew: what it leaves waits for Python's collector.
    assert (most["status"], most["notes"], most["image_size"]) == ("ok", ["waits_for_collector"], [128, 128])
    assert most["peak"] == most["trainings"]["2"][2]


def test_the_present_size_and_other_what_ifs_with_it(traced):
    assert traced["the-same"]["peak"] == traced["vit as it is"]["peak"]
    assert traced["with-batch"]["peak"] == traced["with-batch by hand"]["peak"]
    assert traced["with-batch"]["inputs"] == ["float32[4, 3, 48, 48]", "int64[4, 48, 48]"]


def test_what_is_missing_is_asked_for_as_ever(traced):
    assert traced["no-training"]["status"] == "no_model"
    where, width = traced["missing-file"]["questions"]
    assert (where["why"], where["params"]) == ("path_missing", {"path": "rows.npy"})
    assert (width["why"], width["name"], width["params"]["file"]) == ("number_unseen", "width", "rows.npy")
    of_no_training = traced["missing-file-of-no-training"]
    assert (of_no_training["status"], of_no_training["questions"]) == ("no_model", []), "no answer would lead to a step"
