"""Remedies and the largest batch on real traces, the edge verified by estimates of its neighbours."""

from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from jupyter_paddle_gpu.domain.devices import Accelerator
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.estimates import DeviceTerms, Estimate
from jupyter_paddle_gpu.domain.notebooks import CodeCell, Fact, NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.advice.details import Details
from jupyter_paddle_gpu.estimator.advice.remedies import remedies
from jupyter_paddle_gpu.estimator.memory.calibration import Key
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.estimator.workers.interpreters import find_interpreter

PROGRAM = """
import paddle
import paddle.nn as nn
BATCH_SIZE = 64
net = nn.Sequential(nn.Conv2D(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(8192, 100),
    nn.ReLU(), nn.Linear(100, 10))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(3):
    images, labels = paddle.rand([BATCH_SIZE, 3, 32, 32]), paddle.randint(0, 10, [BATCH_SIZE])
    loss = nn.functional.cross_entropy(net(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
NOTEBOOK = NotebookFacts(
    kernel_name="python3",
    language="python",
    cells=(CodeCell(index=0, id="a", source=PROGRAM),),
    imports_paddle=True,
    loop="custom",
    batch_size=Fact(value=64, source="64", place=None, how="constant", name="BATCH_SIZE"),
)
# A card so small that the edge lies at a few hundred samples.
CARD = Accelerator(name="Small", vendor="nvidia", memory_bytes=1200 << 20, compute_capability=(8, 6))
ON_CPU = EstimateRequest(target="cpu")


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    calibration = tmp_path_factory.mktemp("data") / "calibration.json"
    service = EstimateService(EstimateSettings(calibration=calibration, details_seconds=3600.0))  # however slow it is
    yield service
    service.close()


@pytest.mark.paddle
def test_the_largest_batch_is_exact_at_the_edge(service, tmp_path):
    limit = 100_000_000
    batch = service.largest_batch(NOTEBOOK, tmp_path, ON_CPU, limit)

    def high(size):
        request = msgspec.structs.replace(ON_CPU, batch_size=size)
        return service.estimate(NOTEBOOK, tmp_path, request).high

    assert high(batch) <= limit < high(batch + 1)


@pytest.mark.paddle
def test_details_bring_the_fit_and_remedies_best_first(service, tmp_path):
    estimate = service.estimate(NOTEBOOK, tmp_path, EstimateRequest(details=True), CARD)

    fit = estimate.fits[0]
    assert (fit.device, fit.limit_bytes) == ("Small", int(0.85 * (1200 << 20)))
    assert fit.largest_batch > 64
    saves = [remedy.saves_bytes for remedy in estimate.remedies]
    assert saves == sorted(saves, reverse=True) and min(saves) > 0
    for remedy in estimate.remedies:
        again = service.estimate(NOTEBOOK, tmp_path, EstimateRequest(**remedy.request), CARD)
        assert again.peak_bytes == remedy.peak_bytes == estimate.peak_bytes - remedy.saves_bytes
    assert "set_to_zero" in {remedy.change for remedy in estimate.remedies}
    assert [one.batch for one in estimate.curve] == [256, fit.largest_batch]
    for one in estimate.curve:
        again = service.estimate(NOTEBOOK, tmp_path, EstimateRequest(batch_size=one.batch), CARD)
        assert (one.low, one.bytes, one.high) == (again.low, again.peak_bytes, again.high)
    assert estimate.curve[-1].high <= fit.limit_bytes
    halved = next(remedy for remedy in estimate.remedies if remedy.change == "batch_size")
    assert halved.request == {"batch_size": 32} and halved.largest_batch == fit.largest_batch


@pytest.mark.paddle
def test_smaller_images_come_last_where_the_model_takes_them(service, tmp_path):
    pooled = PROGRAM.replace(
        "nn.Flatten(), nn.Linear(8192, 100)", "nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(32, 100)"
    )
    notebook = msgspec.structs.replace(NOTEBOOK, cells=(CodeCell(index=0, id="a", source=pooled),))
    estimate = service.estimate(notebook, tmp_path, EstimateRequest(details=True, target="cpu"))
    flat = service.estimate(NOTEBOOK, tmp_path, EstimateRequest(details=True, target="cpu"))

    last = estimate.remedies[-1]
    assert (estimate.image_size, estimate.sequence_length) == ((32, 32), None)
    assert (last.change, last.request) == ("image_size", {"image_size": 24})
    again = service.estimate(notebook, tmp_path, EstimateRequest(image_size=24, target="cpu"))
    assert again.peak_bytes == last.peak_bytes and again.image_size == (24, 24)
    assert "image_size" not in {remedy.change for remedy in flat.remedies}


class _LastBatch:
    """Steps of 10 bytes a sample; in the cells themselves a shorter last batch takes 15 more."""

    def trace(self, request, told=()):
        self.more = 0 if "batch_size" in told else 15

    def peak(self, trace, request):
        return SimpleNamespace(high=request.batch_size * 10 + self.more)


@pytest.mark.parametrize(("limit", "largest"), [(1000, 98), (1009, 99), (10_000, 998)])
def test_the_largest_batch_fits_as_a_job_runs_it(limit, largest):
    assert Details(EstimateRequest(), _LastBatch(), 60.0).largest_batch(limit, {}) == largest


def test_other_data_comes_last_whatever_it_saves():
    step = Estimate(
        status="ok", evidence="trace", peak_bytes=1000, batch_size=8, image_size=(224, 300), sequence_length=128
    )
    sizes = {"image_size": 10, "sequence_length": 20, "batch_size": 500}
    found = remedies(step, lambda asked: min(sizes.get(name, 900) for name in asked), None)
    assert found[0].change in {"batch_size", "accumulation"}
    assert [remedy.request for remedy in found][-2:] == [{"image_size": 160}, {"sequence_length": 64}]


@pytest.mark.paddle
def test_a_size_that_the_model_refuses_is_a_sentence(service, tmp_path):
    estimate = service.estimate(NOTEBOOK, tmp_path, EstimateRequest(image_size=64))

    assert (estimate.status, estimate.peak_bytes, estimate.questions) == ("would_stop", None, ())
    assert [note.code for note in estimate.notes] == ["image_refused"]
    said = estimate.stop.message
    assert (said.code, "32768" in said.render()) == ("would_stop_changed", True)
    assert "would stop with images of 64 × 64 pixels in cell 1, line 10" in said.render()


@pytest.mark.paddle
def test_time_that_is_used_up_is_said(tmp_path):
    service = EstimateService(EstimateSettings(details_seconds=0.0, calibration=tmp_path / "calibration.json"))
    small = msgspec.structs.replace(CARD, memory_bytes=300 << 20)
    room, none = (service.estimate(NOTEBOOK, tmp_path, EstimateRequest(details=True), card) for card in (CARD, small))
    longer = service.estimate(NOTEBOOK, tmp_path, EstimateRequest(details=True, details_seconds=3600), CARD)
    service.close()

    for estimate in (room, none):
        assert estimate.status == "ok" and estimate.remedies == () and estimate.fits == ()
        assert estimate.notes[-1].code == "details_late"
    assert longer.fits and longer.remedies and all(note.code != "details_late" for note in longer.notes)


@pytest.mark.paddle
def test_finished_jobs_narrow_the_range(service, tmp_path):
    first = service.estimate(NOTEBOOK, tmp_path, EstimateRequest(), CARD)
    measured = first.low + (first.high - first.low) // 4
    for _ in range(5):
        service.observe(first, measured, cuda="12.6")
    later = service.estimate(NOTEBOOK, tmp_path, EstimateRequest(), CARD)

    assert later.terms.observations == 5
    assert later.high - later.low < first.high - first.low
    assert abs(later.peak_bytes - measured) < abs(first.peak_bytes - measured)
    assert later.breakdown.total == later.peak_bytes
    assert service.calibration.observations(Key("Small", "11.8", "")) == ()


@pytest.mark.paddle
def test_a_trace_of_live_objects_is_the_same_estimate(service, tmp_path):
    interpreter = find_interpreter("python3")
    trace = service.traces.trace(NOTEBOOK, tmp_path, ON_CPU, interpreter).trace

    assert service.of_trace(trace, ON_CPU).peak_bytes == service.estimate(NOTEBOOK, tmp_path, ON_CPU).peak_bytes


def test_only_a_gpu_estimate_teaches(service):
    terms = DeviceTerms(mapped_low=1, mapped_high=2, context_low=3, context_high=4, source="")
    service.observe(Estimate(status="ok", evidence="trace", device="Other"), 100)
    service.observe(Estimate(status="ok", evidence="trace", terms=terms), 100)
    assert service.calibration.observations(Key("Other")) == ()
    assert isinstance(service.calibration.path, Path)


@pytest.mark.paddle
def test_devices_share_the_batch_where_there_are_several(service, tmp_path):
    request = msgspec.structs.replace(ON_CPU, details=True)
    alone = service.estimate(NOTEBOOK, tmp_path, request)
    assert "devices" not in {remedy.change for remedy in alone.remedies}
    found = service.estimate(NOTEBOOK, tmp_path, request, devices=2)
    (together,) = [remedy for remedy in found.remedies if remedy.change == "devices"]
    assert together.request == {"devices": 2, "batch_size": 32}
    assert together.says.render() == "On 2 devices"
    asked = msgspec.structs.replace(ON_CPU, devices=2, batch_size=32)
    assert service.estimate(NOTEBOOK, tmp_path, asked).peak_bytes == together.peak_bytes < found.peak_bytes


GRAPH = """
import paddle
nodes, features = 300, 40
x, y = paddle.randn([nodes, features]), paddle.randint(0, 5, [nodes])
edges = paddle.randint(0, nodes, [2, 1500])
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.last = paddle.nn.Linear(features, 16), paddle.nn.Linear(16, 5)
    def forward(self, x):
        return paddle.geometric.send_u_recv(self.last(self.first(x)), edges[0], edges[1])
net = Net()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(3):
    loss = paddle.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ALONG = "paddle.geometric.send_u_recv(self.last(self.first(x)), edges[0], edges[1])"
BY_HAND = "paddle.zeros([nodes, 5]).scatter(edges[1], self.last(self.first(x)).gather(edges[0]), overwrite=False)"
DETAILED = EstimateRequest(details=True, target="cpu")


@pytest.mark.paddle
@pytest.mark.parametrize("along", [ALONG, BY_HAND])
def test_part_of_a_graph_is_no_smaller_batch(service, tmp_path, along):
    cells = (CodeCell(index=0, id="a", source=GRAPH.replace(ALONG, along)),)
    graph = NotebookFacts(kernel_name="python3", language="python", cells=cells, imports_paddle=True, loop="custom")
    estimate = service.estimate(graph, tmp_path, DETAILED, devices=2, host_bytes=1 << 30)
    assert estimate.batch_size == 300 and estimate.fits == ()
    told = next(note for note in estimate.notes if note.code == "whole_graph")
    assert told.render().startswith("Each step takes in a whole graph of 300 nodes: part of them would be other data")
    assert {"batch_size", "accumulation", "devices"}.isdisjoint(remedy.change for remedy in estimate.remedies)
    with pytest.raises(PaddleGpuError, match="takes in a whole graph"):
        service.fits(graph, tmp_path, EstimateRequest(), [CARD])


@pytest.mark.paddle
def test_a_batch_that_stands_beside_the_loop_is_one(service, tmp_path):
    rows = GRAPH.replace(ALONG, "self.last(self.first(x))")
    cells = (CodeCell(index=0, id="a", source=rows),)
    table = NotebookFacts(kernel_name="python3", language="python", cells=cells, imports_paddle=True, loop="custom")
    estimate = service.estimate(table, tmp_path, DETAILED, host_bytes=1 << 30)
    assert "batch_size" in {remedy.change for remedy in estimate.remedies} and len(estimate.fits) == 1


@pytest.mark.paddle
def test_the_same_advice_takes_no_further_trace(service, tmp_path, monkeypatch):
    asked = EstimateRequest(details=True)
    first = service.estimate(NOTEBOOK, tmp_path, asked, CARD)
    traced = []
    ask = service.traces._ask
    monkeypatch.setattr(service.traces, "_ask", lambda *of: traced.append(of) or ask(*of))
    again = service.estimate(NOTEBOOK, tmp_path, asked, CARD)
    assert again.remedies and (again.remedies, again.fits, again.notes) == (first.remedies, first.fits, first.notes)
    assert not traced
    (tmp_path / "model.py").write_text("width = 3")  # what a cell may read is another: all is looked at again
    service.estimate(NOTEBOOK, tmp_path, asked, CARD)
    assert len(traced) > 1


@pytest.mark.paddle
def test_the_line_over_batches_is_there_however_little_time_there_is_for_advice(service, tmp_path):
    request = EstimateRequest(details=True, target="cpu", details_seconds=1e-9)
    estimate = service.estimate(NOTEBOOK, tmp_path, request)
    assert [one.batch for one in estimate.curve] == [256]
