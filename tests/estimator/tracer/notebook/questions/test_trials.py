"""What is suggested goes on in a trace; where what goes on would leave the model out, no answer helps."""

from __future__ import annotations

import sys

import pytest

CANDIDATES = [("float32[8,2]", "assumed"), ("float32[8]", "assumed")]


def suggested(*codes):
    trials = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.trials")
    question = {"name": "losses", "kind": "batch", "why": "tensor_unseen", "params": {}, "cell": 0, "line": 9,
                "suggestion": None, "candidates": CANDIDATES}  # fmt: skip
    ends = dict(zip([answer for answer, _ in CANDIDATES], codes, strict=True))

    def trace(request):
        notes = [{"code": code, "params": {}} for code in [ends[request["answers"]["losses"]]] if code]
        return {"status": "ok", "questions": [], "notes": notes, "reached": 9}

    result = {"status": "needs_input", "questions": [question], "notes": []}
    return trials.suggested({}, result, trace, lambda: True)["questions"]


@pytest.mark.parametrize("code", ["no_backward", "no_gradients"])
def test_a_tensor_that_leaves_the_model_out_is_no_question(code):
    (told,) = suggested(code, code)
    assert (told["name"], told["why"], told["params"]) == ("", "tensor_between", {"tensor": "losses"})
    assert (told["cell"], told["line"], told["suggestion"]) == (0, 9, None)


def test_one_with_which_the_model_learns_is_suggested():
    (asked,) = suggested("no_backward", "")
    assert (asked["name"], asked["suggestion"]) == ("losses", "float32[8]")


MIXED = "TypeError: (InvalidType) Type promotion only support ... But got different data type x: int64, y: float32."


@pytest.mark.parametrize(
    ("question", "error", "ends"),
    [
        (("words", "value", "number_unseen", [(10000, "assumed")]), MIXED, "sure_stop"),
        (("words", "value", "number_unseen", [(10000, "assumed")]), "ValueError: (InvalidArgument) shapes", None),
        (("loader", "batch", "batch_unseen", [("float32[8,2]", "assumed")]), MIXED, None),
    ],
)
def test_a_count_is_no_reason_for_types_that_do_not_go_together(question, error, ends):
    """The program stops by them whatever is counted: the number is asked for, and behind it the stop is told."""
    trials = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.trials")
    asked = dict(zip(("name", "kind", "why", "candidates"), question, strict=True))
    asked |= {"params": {}, "cell": 0, "line": 9, "suggestion": None}
    stop = {"cell": 1, "line": 2, "error": error}

    def trace(request):
        return {"status": "would_stop", "stop": stop, "is_refusal": True, "questions": [], "notes": [], "reached": 9}

    result = trials.suggested({}, {"status": "needs_input", "questions": [asked], "notes": []}, trace, lambda: True)
    assert result.get("ends") == ends
    assert result["questions"][0]["suggestion"] == (10000 if ends else None)


@pytest.mark.parametrize(
    ("ends", "stops", "settled"),
    [("needs_input", False, True), ("needs_input", True, False), ("ok", True, True), ("would_stop", False, False)],
)
def test_questions_that_lead_to_no_figure_are_not_asked_where_the_program_stops_anyway(ends, stops, settled):
    """Behind a stop of the training the notebook predicted with tensors that nobody had to describe."""
    trials = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.trials")
    result = {"status": "needs_input", "questions": [{"suggestion": "int64[8]"}], "notes": [], "ends": ends}
    assert trials.is_settled(result, stops=stops) is settled


TYPED = """
import paddle
width = int(input("width? ")) * 2
words = open("absent.txt").read().split()
table = paddle.nn.Embedding(len(words), width)
optimizer = paddle.optimizer.SGD(0.1, parameters=table.parameters())
for step in range(2):
    table(paddle.zeros([8, 20], "int64")).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_what_is_typed_is_made_a_number_by_the_program(run_child):
    """What is suggested for it is a text: in place of the whole expression it was no width. The data that is wanted
    behind it is asked for, too."""
    asked = {"open": {}, "settled": {"answers": {"width": "16", "len_words": 100}}}
    found = run_child("trace", dict.fromkeys(asked, TYPED), asked)
    suggested = {one["name"]: one["suggestion"] for one in found["open"]["questions"]}
    assert suggested == {"width": "256", "len_words": 10000}
    assert (found["settled"]["status"], found["settled"]["standing"]["parameters"]) == ("ok", 100 * 32 * 4)


SIDE_BY_SIDE = """
import paddle
epochs = int("2"); batch = int(input("batch size? ")); width = int(input("width? "))
net = paddle.nn.Linear(width, 2)
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(epochs):
    net(paddle.zeros([batch, width])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells columns from 3.11 on")
def test_what_is_typed_has_the_name_of_its_own_statement_beside_others_on_the_line(run_child):
    """All were asked for by the name that the line's first statement binds."""
    asked = {"open": {}, "settled": {"answers": {"batch": "8", "width": "16"}}}
    found = run_child("trace", dict.fromkeys(asked, SIDE_BY_SIDE), asked)
    assert {one["name"]: one["suggestion"] for one in found["open"]["questions"]} == {"batch": "32", "width": "256"}
    assert (found["settled"]["status"], found["settled"]["standing"]["parameters"]) == ("ok", (16 * 2 + 2) * 4)


@pytest.mark.parametrize(
    ("statement", "suggested"),
    [
        ("n = int(input('batch size? '))", "32"),
        ("n = int(input('请输入批大小：'))", "32"),
        ("n = int(input('How many classes? '))", "10"),
        ("hidden = int(input('? '))", "256"),
        ("n = int(input())", "1"),
        ("rate = float(input('learning rate '))", "0.1"),
    ],
)
def test_a_number_that_a_person_types_is_suggested_by_what_is_asked(statement, suggested):
    outer = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.outer")
    name = statement.partition(" ")[0]
    assert [value for value, _ in outer.typed(name, statement, [])] == [suggested]


SAID_OF_RANK = "ValueError: Expected input_dims - 1 = label_dims (got input_dims3, label_dims1)"
SAID_OF_IDS = "NotImplementedError: embedding input only support int32 and int64, but get float32"


@pytest.mark.parametrize(
    ("texts", "said", "tried"),
    [
        (
            ["int64[8,9] int64[8]", "int64[8,9] float32[8]", "int64[8,9] int64[8,9]"],
            {"failed": SAID_OF_RANK},
            ["int64[8,9] int64[8,9]", "int64[8,9] float32[8]"],
        ),
        (
            ["float32[8] int64[8]", "float32[8] int64[8,1]", "int64[8,9] int64[8,1]"],
            {"stop": {"error": SAID_OF_IDS, "cell": 0, "line": 1}, "reached": 3},
            ["int64[8,9] int64[8,1]", "float32[8] int64[8,1]"],
        ),
    ],
)
def test_what_the_program_said_decides_what_is_tried_next(texts, said, tried):
    orders = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.trying.order")
    order = orders.Order([(text, "assumed") for text in texts])
    going = iter(order)
    first = next(going)[0]
    order.told(first, {"questions": [], **said})
    assert [first, *(text for text, _ in going)] == [texts[0], *tried]


def asked_of(*named):
    return [
        {"name": name, "kind": "batch" if why == "batch_unseen" else "value", "why": why, "params": {}, "cell": 0,
         "line": 9, "suggestion": None, "candidates": candidates}
        for name, why, candidates in named
    ]  # fmt: skip


def test_where_no_time_is_left_each_question_has_its_likeliest_suggestion_and_one_loader_is_asked_for():
    """On a busy machine a notebook with two counts and two loaders asked six fields, three of them empty."""
    trials = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.trials")
    questions = asked_of(
        ("users", "number_unseen", [(610, "printed"), (10_000, "assumed")]),
        ("films", "number_unseen", [(9_724, "printed")]),
        ("train_loader", "batch_unseen", [("int64[8,2]", "layer")]),
        ("test_loader", "batch_unseen", []),
    )
    result = {"status": "needs_input", "questions": questions, "notes": []}
    found = trials.suggested({}, result, lambda request: pytest.fail("no time"), lambda: False)["questions"]
    told = [(one["name"], one["suggestion"], one["params"]["source"]) for one in found]
    assert told == [("users", 610, "untried"), ("films", 9_724, "untried"), ("train_loader", "int64[8,2]", "untried")]


def test_a_batch_for_whose_trial_the_time_is_up_is_suggested_as_not_tried():
    trials = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.trials")
    batches = [(f"float32[{size},4] int64[{size}]", "layer") for size in (1, 2, 3)]
    asked = {"name": "loader", "kind": "batch", "why": "batch_unseen", "params": {}, "cell": 0, "line": 9,
             "suggestion": None, "candidates": batches}  # fmt: skip
    up = {"name": "", "kind": "value", "why": "time_up", "params": {}, "cell": 0, "line": 9, "suggestion": None}

    def trace(request):
        is_first = request["answers"]["loader"] == batches[0][0]
        end = {"status": "needs_input", "questions": [{**up, "why": "cell_failed"} if is_first else up]}
        return {**end, "notes": [], "reached": 3}

    result = {"status": "needs_input", "questions": [asked], "notes": []}
    (told,) = trials.suggested({}, result, trace, lambda: True)["questions"]
    assert (told["suggestion"], told["params"]["source"]) == (batches[1][0], "untried")


BY_HAND = """
import numpy as np
import paddle
table = np.genfromtxt('absent.dat', dtype=np.float32, delimiter='\\t')
rows = paddle.to_tensor((table - table.mean(axis=0)) / table.std(axis=0))
loader = paddle.io.DataLoader(paddle.io.TensorDataset([rows[:, :-1], rows[:, -1]]), batch_size=10)
w, b = paddle.normal(0.0, 0.01, (5, 1)), paddle.zeros([1])
w.stop_gradient = b.stop_gradient = False
for x, y in loader:
    loss = ((paddle.matmul(x, w) + b - y.reshape([-1, 1])) ** 2).mean()
    loss.backward()
    for p in [w, b]:
        with paddle.no_grad():
            p[:] -= 0.1 * p.grad
        p.grad.zero_()
"""


def test_what_paddle_says_of_the_graph_is_no_reason_against_a_batch(run_child):
    """Any batch leads to it: labels of whole numbers were suggested, for which the program ends before."""
    read = "np.genfromtxt('absent.dat', dtype=np.float32, delimiter='\\t')"
    here = BY_HAND.replace(read, "np.zeros([40, 6], 'float32')")
    found = run_child("trace", {"absent": BY_HAND, "here": here})
    said = "ValueError: (InvalidArgument) Leaf Var () that doesn't stop gradient can't use inplace strategy."
    assert found["here"]["stop"]["error"] == said
    assert found["absent"]["status"] in {"needs_input", "would_stop"}
    asked = {one["name"]: one["suggestion"] for one in found["absent"]["questions"]}
    assert "int64" not in str(asked)
    answered = run_child("trace", {"absent": BY_HAND}, {"absent": {"answers": asked}})["absent"]
    assert (answered["status"], answered["stop"]["line"], answered["stop"]["error"]) == ("would_stop", 15, said)


LOOKED_UP = """
import json
import paddle
ids = json.load(open('absent.json'))
net = paddle.nn.Sequential(paddle.nn.Embedding(300, 8), paddle.nn.Linear(8, 1))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(3):
    near = net[0].weight[ids['chip']]
    (net(paddle.randint(0, 300, [16])).mean() + near.mean()).backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_a_row_that_data_says_is_the_first_one(run_child):
    """A vocabulary's size was suggested, which is past its last row."""
    asked = run_child("trace", {"asked": LOOKED_UP})["asked"]["questions"]
    assert [(one["name"], one["suggestion"]) for one in asked] == [("ids_chip", 0)]
    sources = {"answered": LOOKED_UP, "here": LOOKED_UP.replace("json.load(open('absent.json'))", "{'chip': 7}")}
    found = run_child("trace", sources, {"answered": {"answers": {"ids_chip": 0}}})
    assert found["answered"]["peak"] == found["here"]["peak"]
