"""What notebooks of people nobody here knows were told wrong at first: each is a small program of the same kind."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.notebook.stranger_programs import SOURCES

pytestmark = pytest.mark.paddle


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


def test_numbers_that_a_loss_would_compare_all_with_all_are_not_suggested(traced):
    """`mse_loss` of [64] and [64, 1] is one of [64, 64], with a figure that nobody meant."""
    (asked,) = traced["ratings"]["questions"]
    assert asked["suggestion"].split()[:2] == ["int64[64]", "int64[64]"]
    assert asked["suggestion"].endswith("[64]")


def test_a_vocabulary_of_the_most_common_words_is_as_large_as_the_cells_say(traced):
    suggested = {one["name"]: one["suggestion"] for one in traced["common"]["questions"]}
    assert (suggested["len_vocab"], suggested["len_tags"]) == (702, 10)
    assert suggested["loader"].endswith(" int64[32]"), "an entry of an array is one number"


def test_a_vocabulary_tells_words_from_lists_of_them(traced):
    assert traced["words"]["status"] == "ok", traced["words"]["questions"]
    assert traced["words"]["inputs"] == ["int64[16, 24]", "float32[16]"]


def test_numbers_of_made_up_pictures_are_no_labels(traced):
    """A black mask less one is a class that there is not."""
    assert (traced["masks"]["status"], traced["masks"]["questions"]) == ("ok", [])
    assert traced["masks"]["inputs"] == ["float32[4, 3, 32, 40]", "int64[4, 1, 32, 40]"]


@pytest.mark.parametrize("name", ["opencv", "paddle"])
def test_a_picture_that_opencv_does_not_find_is_data_that_is_not_here(traced, name):
    assert traced[name]["status"] == "ok", traced[name]["stop"]
    assert "data_absent" in traced[name]["notes"]


def test_a_loop_of_which_the_update_changes_nothing_has_a_step_all_the_same(traced):
    assert traced["scratch"]["status"] == "ok"
    assert traced["scratch"]["batch_size"] == 32


def test_a_training_within_a_library_that_is_not_here_asks_for_the_library(traced):
    asked = [one["params"] for one in traced["agent"]["questions"]]
    assert {"module": "absent_agents"} in asked


@pytest.mark.parametrize("name", ["tensors", "held"])
def test_tensors_that_functions_make_of_lines_are_followed_to_the_lines(traced, name):
    """Lengths are one number a line, and a target may be longer than a source."""
    assert (traced[name]["status"], traced[name]["questions"]) == ("ok", [])
    assert traced[name]["inputs"] == ["int64[16, 9]", "int64[16]", "int64[16, 12]", "int64[16]"]


def test_a_tensor_without_a_name_is_followed_to_what_it_is_made_of(traced):
    """`TensorDataset([rows, to_tensor(kinds)])`: the kinds are one number a text, not a column."""
    assert traced["reviews"]["questions"] == []
    assert traced["reviews"]["inputs"] == ["int64[16, 30]", "int64[16]"]


def test_what_is_made_up_to_follow_a_batch_is_in_no_figure(traced):
    """What a function that failed has made up is in cycles of references: it goes all the same."""
    held = 8 * 320 * (9 + 1 + 12 + 1)  # tensors of all lines, which a run without them does not count
    assert "tensors_uncounted" in traced["tensors"]["notes"]
    assert traced["tensors"]["peak"] == traced["present"]["peak"] - held


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("rate", 8, "TypeError: learning rate should be float or LRScheduler, got <class 'int'> here"),
        ("fed", 9, "TypeError: 'int' object is not iterable"),
    ],
)
def test_a_wrong_type_is_refused_beside_data_that_is_not_here(traced, name, line, said):
    """`SGD(learning_rate=1)`, `DataLoader(data, 16)`, whose second argument is no batch size."""
    assert traced[name]["status"] == "would_stop", traced[name]["questions"]
    assert (traced[name]["stop"]["line"], traced[name]["stop"]["error"]) == (line, said)


def test_a_model_of_a_network_that_is_not_known_is_none():
    """`paddle.Model(Bert(...))` whose network a library would have made: it has no parameters to look at."""
    import paddle

    from jupyter_paddle_gpu.estimator.tracer.memory.ledger import Ledger
    from jupyter_paddle_gpu.estimator.tracer.notebook.questions.models import Models
    from jupyter_paddle_gpu.estimator.tracer.undecided.absent_data import Unseen

    model = paddle.Model.__new__(paddle.Model)
    model.network = Unseen()
    assert model not in Models(Ledger()).wrapped


@pytest.mark.parametrize("name", ["single", "bar"])
def test_a_data_set_without_its_files_is_gone_through_without_a_loader(traced, name):
    """It was told that nothing trains: the data set ends the program where it has no files."""
    assert traced[name]["status"] == "ok", traced[name]["questions"]
    assert traced[name]["inputs"] == ["float32[4]", "float32[1]"]


def test_what_passes_itself_off_as_something_that_is_gone_is_no_model():
    import gc
    import weakref

    import paddle

    from jupyter_paddle_gpu.estimator.tracer.memory.ledger import Ledger
    from jupyter_paddle_gpu.estimator.tracer.notebook.questions.models import Models

    held = [weakref.proxy(paddle.nn.Linear(1, 1))]
    gc.collect()
    with pytest.raises(ReferenceError):
        isinstance(held[0], paddle.nn.Layer)
    assert all(type(one) is not weakref.ProxyType for one in Models(Ledger()).outer)


@pytest.mark.parametrize(("sizes", "told"), [((32, 40), []), ((40,), [40])])
def test_a_batch_that_fits_the_training_is_not_compared_with_an_evaluations(sizes, told):
    """Both loaders are made in functions, and are called the same: the job was told to take 40 samples a step."""
    from types import SimpleNamespace

    from jupyter_paddle_gpu.estimator.tracer.patches.data.loaders import Loaders

    made = [SimpleNamespace(batch_size=one) for one in sizes]
    said = []
    data = SimpleNamespace(loaders={id(one): ("loader",) for one in made}, description=lambda name: "float32[32,6]")
    session = SimpleNamespace(of=lambda kind: data, note=lambda code, **params: said.append(params["own"]))
    loaders = Loaders()
    for one in made:
        loaders.take_size(session, one, 32, "float32[32,6]")
    assert said == told


def test_ids_that_the_program_makes_one_hot_are_suggested(traced):
    """A recurrent layer takes them so; how many stand in a row is what a call in the cells gives by name."""
    (asked,) = traced["steps"]["questions"]
    assert (asked["kind"], asked["suggestion"]) == ("batch", "int64[64,24] int64[64,24]")


def test_a_shape_in_the_cells_is_nothing_that_was_printed(traced):
    """What was printed is so, and a program that refuses it stops; a tuple of sizes may be anything's."""
    assert traced["observed"]["status"] != "would_stop", traced["observed"]["stop"]
    assert [one["suggestion"] for one in traced["observed"]["questions"]] == ["float32[1,36,52]"]


def test_labels_that_an_accuracy_behind_the_step_refuses_are_not_suggested(traced):
    """A column of labels ended the program behind its first step, which alone the figure was of."""
    (asked,) = traced["right"]["questions"]
    assert asked["suggestion"].startswith("float32[12,3,")
    assert asked["suggestion"].endswith(" int64[12]")
