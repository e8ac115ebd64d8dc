"""An estimate as a terminal shows it: the model's tree, the machine's own memory."""

import io

import msgspec
from rich.console import Console, Group

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.estimate import EstimateView
from jupyter_paddle_gpu.commands.views.explain import ExplainView
from jupyter_paddle_gpu.commands.views.step import rich, shown_layers
from jupyter_paddle_gpu.domain.estimates import (
    AliveTensor,
    Breakdown,
    Estimate,
    HostMemory,
    LayerMemory,
    Remedy,
    TimelinePoint,
)
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest


def test_what_was_asked_otherwise_stands_beside_the_figure():
    request = EstimateRequest(amp="O1", accumulation=4, set_to_zero=False, device="A100", details=True)
    estimate = Estimate(status="ok", evidence="trace", peak_bytes=1 << 20)
    asked = "with mixed precision O1, with 4 steps accumulated, with gradients freed"
    assert asked in EstimateView(estimate, request=request).html(Speech("en"))
    assert "What if" not in EstimateView(estimate, request=EstimateRequest(device="A100")).html(Speech("en"))


def test_how_many_parameters_are_trained_is_said_where_not_all_are():
    some = Estimate(status="ok", evidence="trace", parameters=544_906, trainable_parameters=544_714)
    assert "544,906 (544,714 trainable)" in EstimateView(some).html(Speech("en"))
    every = msgspec.structs.replace(some, trainable_parameters=544_906)
    assert "trainable" not in EstimateView(every).html(Speech("en"))


def test_a_batch_is_named_by_what_has_it_in_front():
    inputs = ("float32[]",) * 900 + ("float32[64, 3, 224, 224]", "int64[64]", "int64[64]", "float32[4]")
    said = EstimateView(Estimate(status="ok", evidence="trace", batch_size=64, inputs=inputs)).html(Speech("en"))
    assert "64  (float32[64, 3, 224, 224], int64[64])" in said
    odd = Estimate(status="ok", evidence="trace", batch_size=64, inputs=tuple(f"float32[{n}, 7]" for n in range(1, 9)))
    assert "float32[6, 7] and 2 more)" in EstimateView(odd).html(Speech("en"))


def layer(path, kind, parameters, activations=0, flops=0):
    return LayerMemory(
        path=path,
        type=kind,
        parameters=parameters // 4,
        parameter_bytes=parameters,
        activation_bytes=activations,
        flops=flops,
    )


def test_a_layer_that_is_a_number_in_a_list_is_named_with_its_type():
    layers = (layer("", "Sequential", 300), layer("2", "Linear", 200), layer("out", "Linear", 100))
    alive = tuple(
        AliveTensor(bytes=1024, kind="activations", op="matmul", layer=path, shape=(2, 128), dtype="float32")
        for path in ("2", "out")
    )
    peak = TimelinePoint(index=1, bytes=2048, phase="backward", op="matmul_grad", layer="2")
    kinds = Breakdown(parameters=600, gradients=600, activations=2048)
    estimate = Estimate(
        status="ok", evidence="trace", layers=layers, alive_at_peak=alive, peak_at=peak, breakdown=kinds
    )
    said = dict(ExplainView(estimate).paragraphs(Speech("en")))
    assert any("at matmul_grad of layer 2: Linear." in line for lines in said.values() for line in lines)
    assert any("float32[2, 128] (2: Linear), " in line and "(out)" in line for line in said["With the batch"])


def blocks(*paths):
    for index, path in enumerate(paths):
        yield layer(path, "Block", 300, 10 * index)
        yield layer(f"{path}.attention", "Attention", 200)
        yield layer(f"{path}.norm", "LayerNorm", 1)
        yield layer(f"{path}.output", "Linear", 99, 10 * index)


def shown(*layers):
    found = shown_layers(Estimate(status="ok", evidence="trace", layers=layers))
    return [(row.depth, row.name, row.type, row.members, row.parameter_bytes, row.activation_bytes) for row in found]


def test_alike_neighbours_are_one_row_with_their_sums():
    encoder = layer("encoder", "LayerList", 900, 30)
    root, head = layer("", "Net", 1000, 30), layer("head", "Linear", 100)

    assert shown(root, encoder, *blocks("encoder.0", "encoder.1", "encoder.2"), head) == [
        (0, "·", "Net", 1, 1000, 30),
        (1, "encoder", "LayerList", 1, 900, 30),
        (2, "0–2", "Block", 3, 900, 30),
        (3, "attention", "Attention", 3, 600, 0),
        (3, "output", "Linear", 3, 297, 30),
        (1, "head", "Linear", 1, 100, 0),
    ]


def test_neighbours_of_another_shape_stand_alone():
    root = layer("", "Sequential", 1300)
    first, second = layer("0", "Linear", 600), layer("1", "Linear", 700)

    assert [(row[1], row[3]) for row in shown(root, first, second)] == [("·", 1), ("0", 1), ("1", 1)]


def test_a_large_model_is_cut_and_no_row_is_without_the_one_above_it():
    names = [f"part{index}" for index in range(45)]
    root = layer("", "Net", 45 * 100)
    rows = shown(root, *(one for name in names for one in (layer(name, "Part", 100), layer(f"{name}.inner", name, 97))))

    assert 1 < len(rows) <= 46
    assert all(row[0] <= 1 for row in rows) or rows[2][0] == 2


def test_without_a_model_there_is_no_tree():
    assert shown() == []


def test_what_the_machine_itself_gives_is_said_where_it_is_known():
    parts = dict.fromkeys(("process", "data", "tensors", "batches", "checkpoint", "workers", "shared_memory"), 0)
    known = Estimate(status="ok", evidence="trace", host=HostMemory(bytes=700 << 20, **parts))
    assert "about 700 MiB for each process of the job" in EstimateView(known).html(Speech("en"))
    assert "主机内存" in EstimateView(known).html(Speech("zh_CN"))
    assert "Host memory" not in EstimateView(Estimate(status="ok", evidence="scan")).html(Speech("en"))


def drawn(columns, *layers, alive=()):
    console = Console(width=columns, file=io.StringIO(), highlight=False)
    estimate = Estimate(status="ok", evidence="trace", layers=layers, alive_at_peak=alive)
    console.print(Group(*rich(estimate, Speech("en"))))
    return [line.split() for line in console.file.getvalue().splitlines()]


def test_a_narrow_terminal_leaves_columns_out_before_it_cuts_figures():
    root, head = layer("", "Sequential", 3 << 20, 40 << 20, 1000), layer("head", "Linear", 2 << 20, 30 << 20, 700)
    alive = AliveTensor(bytes=30 << 20, kind="activations", op="relu", layer="head", shape=(64, 32), dtype="float32")

    narrow = drawn(44, root, head, alive=(alive,))
    assert ["head", "2.00", "MiB", "30.0", "MiB"] in narrow
    assert ["relu", "float32[64,", "32]", "30.0", "MiB"] in narrow
    assert ["head", "Linear", "2.00", "MiB", "30.0", "MiB", "700"] in drawn(100, root, head)


def test_of_a_remedy_that_no_job_can_be_given_it_is_told_why():
    hidden = Message(code="change_step_hidden", text="The step is not in the cells.", hint="Write the loop in a cell.")
    asked = {"AMP O2": {"amp": "O2"}, "Accumulate 4 steps": {"accumulation": 4}, "Batch 8": {"batch_size": 8}}
    remedies = tuple(
        Remedy(
            change=next(iter(request)), says=Message(code="said", text=words), request=request, peak_bytes=40,
            saves_bytes=60, refused=None if words == "Batch 8" else hidden,
        )
        for words, request in asked.items()
    )  # fmt: skip
    estimate = Estimate(
        status="ok", evidence="trace", batch_size=16, peak_bytes=100, breakdown=Breakdown(), remedies=remedies
    )
    why = "AMP O2, Accumulate 4 steps: The step is not in the cells. Write the loop in a cell."
    console = Console(file=io.StringIO(), width=200)
    console.print(EstimateView(estimate).rich(Speech("en")))
    for said in (console.file.getvalue(), EstimateView(estimate).html(Speech("en"))):
        assert why in " ".join(said.split()) and "--batch-size 8" in said
        assert "--amp" not in said and "--accumulation" not in said
    assert dict(ExplainView(estimate).paragraphs(Speech("en")))["What would save memory"] == [
        "Batch 8: 60 B less (`--batch-size 8`).",
        why,
    ]
