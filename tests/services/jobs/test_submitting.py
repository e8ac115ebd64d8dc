"""What a submission becomes when everything is left to us."""

import pytest

from jupyter_paddle_gpu.devices.reader import Reading
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.decisions import Choice, RefusedError
from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.domain.jobs.job import Resources, WantedResources
from jupyter_paddle_gpu.domain.notebooks import LAUNCHED
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.engines.docker.policy import options_of
from jupyter_paddle_gpu.estimator.sources.traces import Traces
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.jobs.placing import place, together
from jupyter_paddle_gpu.services.jobs.submitting import _launched, _processes, settle, specify

CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
TRAINING = """
import numpy as np
import paddle
batch_size = 16
net = paddle.nn.Linear(8, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(5):
    loss = net(paddle.to_tensor(np.zeros([batch_size, 8], "float32"))).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture
def services(tmp_path):
    (tmp_path / "work").mkdir()
    made = Services(Settings(data_folder=tmp_path / "data", root=tmp_path))
    yield made
    made.close()


def source(services, code=TRAINING):
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{**CELL, "id": "a", "source": code}]}
    return services.open("work/train.ipynb", content)


def test_the_defaults(services, tmp_path):
    spec = specify(services.desk(), source(services), Submission())
    work = tmp_path.resolve() / "work"
    assert (spec.name, spec.engine, spec.kernel_name) == ("train", "local", "python3")
    assert (spec.notebook, spec.folder) == (str(work / "train.ipynb"), str(work))
    assert spec.output == str(work / "paddle-gpu-runs" / "train-{id}.ipynb")
    assert spec.python
    assert spec.estimated_peak_bytes is None, "nobody waits for an estimate that nobody asked for"


def test_a_persons_wishes_stay(services):
    resources = Resources(cpus=2.0, seconds=60.0)
    spec = specify(
        services.desk(),
        source(services),
        Submission(name="mine", resources=resources, environment={"A": "1"}, request=EstimateRequest(batch_size=8)),
    )
    assert (spec.name, spec.resources, spec.environment) == ("mine", resources, {"A": "1"})
    assert (spec.sets, [one.render() for one in spec.changes]) == ({}, ["with batch 8"])


@pytest.mark.paddle
def test_the_estimate_that_was_shown_goes_with_the_job(services):
    notebook = source(services)
    services.match(notebook, EstimateRequest(amp="O1"))
    spec = specify(services.desk(), notebook, Submission(request=EstimateRequest(amp="O1")))
    plain = services.estimate(notebook, EstimateRequest(target="cpu"))
    assert plain.evidence == "trace"
    assert spec.estimated_allocated_bytes == plain.allocated_peak_bytes, "a job runs the notebook as it is written"
    assert (spec.estimated_low_bytes, spec.estimated_high_bytes) == (plain.low, plain.high)
    assert services.estimates.known(notebook, EstimateRequest(target="cpu")) == plain
    assert specify(services.desk(), notebook, Submission(estimate=False)).estimated_peak_bytes is None


@pytest.mark.paddle
def test_an_open_question_and_what_the_job_does_about_it_are_said_by_submit_and_preflight(services):
    notebook = source(services, 'import os\nbatch = int(os.environ["BATCH_OF_NOBODY"])\n' + TRAINING)
    submission = Submission(estimate=True, resources=WantedResources(gpus=0))
    spec = specify(services.desk(), notebook, submission)
    (said,) = spec.unanswered
    assert said.render() == (
        "Open question: BATCH_OF_NOBODY. The job runs without it, and ends in cell 1, line 2 where nothing sets it."
    )
    found = services.preflight(notebook, submission)
    assert (found.problems, found.notes) == ((), (said,))
    answered = EstimateRequest(answers={"BATCH_OF_NOBODY": 8})
    assert not specify(services.desk(), notebook, Submission(estimate=True, request=answered)).unanswered


@pytest.mark.paddle
@pytest.mark.parametrize(("called", "code"), [("net.absent(", "would_stop"), ("net((", "would_stop"), ("net(", None)])
def test_where_the_notebook_would_stop_goes_with_the_job(services, called, code):
    notebook = source(services, TRAINING.replace("net(", called))
    spec = specify(services.desk(), notebook, Submission(estimate=True))
    assert (spec.would_stop and spec.would_stop.code) == code


def test_answers_go_to_the_job_where_it_takes_them(services):
    """A value is bound, an environment variable set; what data looks like is for the estimate alone."""
    code = "import os\nloader, rows = None, 2\nBATCH = int(os.environ['BATCH'])\n"
    answers = {"BATCH": 8, "rows": 3, "HELPERS": "a", "loader": "float32[8,13] int64[8,1]"}
    wish = Submission(request=EstimateRequest(answers=answers), environment={"HELPERS": "b"}, estimate=False)
    spec = specify(services.desk(), source(services, code), wish)
    assert spec.sets == {"BATCH": 8, "rows": 3, "HELPERS": "a"}
    assert spec.environment == {"BATCH": "8", "HELPERS": "b"}, "what is set for the job stands above answers"


def test_a_variable_that_a_library_reads_is_set_also_where_a_name_is_bound_that_is_alike(services):
    code = (
        "class Settings(BaseSettings):\n    batch: int\n    kind: str\nTRAIN_BATCH = Settings().batch\nBATCH = 2\n"
        "def train():\n    ROWS = env.int('ROWS')\nfor name in ('UNITS',):\n    UNITS = need(name)\nrows = 2\n"
    )
    answers = {"TRAIN_BATCH": 8, "ROWS": 3, "rows": 4, "UNITS": 5}
    spec = specify(
        services.desk(), source(services, code), Submission(request=EstimateRequest(answers=answers), estimate=False)
    )
    assert spec.environment == {"TRAIN_BATCH": "8", "ROWS": "3", "UNITS": "5"}


WORKERS = """
import numpy as np, paddle
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.zeros([1000], "float32"), i
    def __len__(self):
        return 640
net = paddle.nn.Linear(1000, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in paddle.io.DataLoader(Data(), batch_size=64, num_workers=4, prefetch_factor=3):
    net(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.mark.paddle
def test_shared_memory_follows_from_the_loaders_workers(services):
    notebook = source(services, WORKERS)
    batch = 64 * (1000 * 4 + 8)
    assert services.estimate(notebook, EstimateRequest(target="cpu")).shared_memory_bytes == (4 * 3 + 1) * batch
    spec = specify(services.desk(), notebook, Submission(estimate=True))
    assert spec.resources.shm_bytes == (4 * 3 + 1) * batch
    mine = Resources(shm_bytes=1 << 20)
    assert specify(services.desk(), notebook, Submission(estimate=True, resources=mine)).resources == mine


def test_components_are_built_when_they_are_needed(services):
    assert services._built == {}
    services.inspect(source(services))
    assert services._built == {}


class Cards:
    """A driver with two cards, the second one divided."""

    def read(self):
        cards = [Device(id=f"GPU-{name}", index=n, vendor="nvidia", name="Card") for n, name in enumerate("ab")]
        slices = [Device(id="MIG-b0", index=0, vendor="nvidia", name="Card 1g", parent="GPU-b")]
        return Reading(devices=(*cards, *slices))

    def close(self):
        pass


def test_a_device_is_one_device_however_it_is_named(services, tmp_path):
    """Else `0` and its UUID would be two claims, and two jobs would be given one card."""
    services._built["devices"] = DeviceService(tmp_path, simulate="", readers=[Cards()])

    def ids(*names):
        wish = Submission(resources=Resources(gpus=len(names), device_ids=names), estimate=False)
        return specify(services.desk(), source(services), wish).resources

    assert ids("0").device_ids == ids("GPU-a").device_ids == ("GPU-a",)
    assert ids("MIG-b0").device_ids == ("MIG-b0",)
    refused = {("7",): "device_unknown", ("1",): "device_divided", ("0", "GPU-a"): "device_twice"}
    for names, code in refused.items():
        with pytest.raises(PaddleGpuError) as caught:
            ids(*names)
        assert caught.value.code == code


class Small:
    """A driver with a card that holds little."""

    def read(self):
        size = 2 << 30
        card = Device(id="GPU-a", index=0, vendor="nvidia", name="Small", memory_total=size, memory_free=size)
        return Reading(devices=(card,))

    def close(self):
        pass


@pytest.mark.parametrize(("wanted", "gpus"), [({}, 1), ({"gpus": 0}, 0), ({"device_ids": ("0",)}, 1)])
def test_a_limit_alone_leaves_the_devices_to_the_policy(services, tmp_path, wanted, gpus):
    services._built["devices"] = DeviceService(tmp_path, simulate="", readers=[Small()])
    wish = Submission(resources=WantedResources(seconds=60, **wanted), estimate=False)
    resources = specify(services.desk(), source(services), wish).resources
    assert (resources.gpus, resources.seconds, type(resources)) == (gpus, 60, Resources)


@pytest.mark.paddle
def test_the_batch_that_fits_goes_with_the_job(services, tmp_path):
    """Where the estimate was asked for it: a job that runs out of memory can name it then."""
    services._built["devices"] = DeviceService(tmp_path, simulate="", readers=[Small()])
    wish, notebook = Submission(resources=Resources(gpus=1)), source(services, TRAINING.replace("8", "4096"))
    assert specify(services.desk(), notebook, wish).estimated_largest_batch is None
    (fit,) = services.estimate(notebook, EstimateRequest(details=True)).fits
    spec = specify(services.desk(), notebook, wish)
    assert spec.estimated_largest_batch == fit.largest_batch > 16
    assert (spec.estimated_batch_size, spec.estimated_device) == (16, "Small")
    assert (spec.estimated_precision, spec.estimated_size, spec.trainer) == ("float32", (), "")


def test_a_store_that_cannot_be_read_holds_up_no_placement(services, tmp_path):
    services._built["devices"] = DeviceService(tmp_path, simulate="", readers=[Small()])
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "jobs.sqlite").write_bytes(b"no database" * 100)
    estimate = Estimate(status="ok", evidence="trace", peak_bytes=1 << 20, low=1 << 20, high=1 << 20)
    assert place(services._site(), estimate).decision.outcome == "run"


def test_a_device_that_is_named_where_there_is_none_is_refused_with_the_way_out(services, tmp_path):
    services._built["devices"] = DeviceService(tmp_path, simulate="A100", readers=[])
    wish = Submission(resources=Resources(gpus=1, device_ids=("GPU-far",)), estimate=False)
    with pytest.raises(RefusedError) as refused:
        specify(services.desk(), source(services), wish)
    assert refused.value.decision.reason.code == "no_device_to_name"
    assert [way.gpus for way in refused.value.decision.ways] == [0]
    seen = services.preflight(source(services), wish)
    assert (seen.decision.outcome, seen.decision.reason) == ("refuse", refused.value.decision.reason)
    plain = specify(services.desk(), source(services), Submission(estimate=False))
    assert plain.on_cpu is not None and plain.on_cpu.code == "cpu_no_device", "nobody asked for the CPU"


def test_a_script_is_started_where_the_terminal_stands(tmp_path, monkeypatch):
    script = tmp_path / "repository" / "tools" / "train.py"
    script.parent.mkdir(parents=True)
    script.write_text(TRAINING)
    made = Services(Settings(data_folder=tmp_path / "data"))
    try:
        folders = {}
        for place in ("repository", "repository/tools", "."):
            monkeypatch.chdir(tmp_path / place)
            folders[place] = specify(made.desk(), made.open(script), Submission()).folder
        monkeypatch.setenv("HOME", str(tmp_path))
        at_home = made.open(script).folder
    finally:
        made.close()
    assert folders == {
        "repository": str(tmp_path / "repository"),
        "repository/tools": str(script.parent),
        ".": str(tmp_path),
    }
    assert at_home == script.parent, "no job is given the whole home folder"


def test_the_cards_that_are_chosen_are_the_processes_of_a_notebook_that_each_of_them_runs(services):
    parallel = services.inspect(source(services, TRAINING + "net = paddle.DataParallel(net)"))
    asked = EstimateRequest()
    assert together(asked, parallel, Choice(gpus=2)).devices == 2
    assert together(asked, parallel, Choice(gpus=1)).devices is None
    assert together(EstimateRequest(devices=4), parallel, Choice(gpus=2)).devices == 4
    assert together(asked, services.inspect(source(services)), Choice(gpus=2)).devices is None


FIT = """
import paddle
model = paddle.Model(paddle.nn.Linear(8, 2))
model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.CrossEntropyLoss())
model.fit(data, batch_size=4)
"""


def test_a_fit_on_several_devices_is_started_by_the_launcher(services):
    """`paddle.Model.fit` needs nothing but the launcher, which an engine starts for what does not start it itself."""
    facts = services.inspect(source(services, FIT))
    launched = _launched(facts, EstimateRequest(devices=2))
    assert options_of((), launched.distribution.value)["distribution"] in LAUNCHED
    assert _launched(facts, EstimateRequest()).distribution == facts.distribution
    own = services.inspect(source(services, "!python -m paddle.distributed.launch --gpus 0,1 train.py"))
    assert _launched(own, EstimateRequest(devices=2)).distribution.value not in LAUNCHED, "it would be launched twice"


@pytest.mark.parametrize(
    ("cells", "gpus", "devices", "processes"),
    [
        (FIT, 0, 2, 2),
        (FIT, 0, None, 1),
        ("import paddle.distributed as dist\ndist.init_parallel_env()\n" + FIT, 0, 3, 3),
        ("!python -m paddle.distributed.launch --nproc_per_node 2 train.py", 0, None, 1),  # it starts them itself
        ("!python -m paddle.distributed.launch --nproc_per_node 2 train.py", 2, None, 1),
        (FIT, 2, 2, 2),
    ],
)
def test_a_job_has_as_many_processes_as_train_together(services, cells, gpus, devices, processes):
    request = EstimateRequest(devices=devices)
    assert _processes(_launched(services.inspect(source(services, cells)), request), request, gpus) == processes


@pytest.mark.paddle
def test_a_job_with_one_of_two_trainings_changed_is_placed_by_the_most_of_its_copy(services):
    second = TRAINING.replace("batch_size = ", "batch_size = 2 * ").replace("[batch_size, 8]", "[batch_size, 8]")
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    cells = [{**CELL, "id": name, "source": code} for name, code in (("a", TRAINING), ("b", second))]
    notebook = services.open("work/train.ipynb", {**content, "cells": cells})
    cpu = services.estimate(notebook, EstimateRequest(target="cpu"))
    assert [one.batch_size for one in cpu.trainings] == [16, 32] and cpu.among.id == "2"
    wish = Submission(request=EstimateRequest(training="1", batch_size=8), estimate=True)
    spec = specify(services.desk(), notebook, wish)
    assert spec.estimated_batch_size == 32, "the second stays as it is"
    assert services.estimate(notebook, EstimateRequest(target="cpu", training="1", batch_size=8)).batch_size == 8


@pytest.mark.paddle
def test_what_sizes_the_batch_is_found_by_one_more_trace_and_remembered(services, monkeypatch):
    traced = []
    asked = Traces.trace
    monkeypatch.setattr(Traces, "trace", lambda *args, **named: traced.append(1) or asked(*args, **named))
    made_by_hand = TRAINING.replace("batch_size = 16", "few = dict(rows=16)").replace("batch_size", "few['rows']")
    misled = made_by_hand.replace("few =", "batch_size = 3  # of another chapter\nfew =")
    for code in (made_by_hand, misled):
        notebook, counts = source(services, code), []
        for batch in (None, 24, 12):
            traced.clear()
            found = services.estimate(notebook, EstimateRequest(target="cpu", batch_size=batch))
            assert (found.batch_size, found.status) == (batch or 16, "ok")
            counts.append(len(traced))
        assert counts == [1, 2, 1], code


@pytest.mark.paddle
def test_a_batch_that_is_named_where_no_loader_says_it_is_changed_there(services):
    samplers = """import numpy as np
import paddle

net = paddle.nn.Linear(8, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
data = np.zeros([200, 8], "float32")


def batches(rows):
    BATCHSIZE = 16
    for i in range(0, 200, BATCHSIZE):
        yield rows[i : i + BATCHSIZE]


class Chosen(paddle.io.Sampler):
    def __init__(self, bs):
        self.bs = bs

    def __iter__(self):
        return (list(range(i, i + self.bs)) for i in range(0, 200 - self.bs, self.bs))


"""
    step = "    net(paddle.to_tensor(x)).mean().backward()\n    optimizer.step()\n    optimizer.clear_grad()\n"
    loader = "paddle.io.DataLoader(paddle.io.TensorDataset([paddle.to_tensor(data)]), batch_sampler=Chosen(16))"
    for loop, before, after in (
        ("for x in batches(data):", "BATCHSIZE = 16", "BATCHSIZE = 24"),
        (f"for (x,) in {loader}:", "Chosen(16)", "Chosen(24)"),
    ):
        code = f"{samplers}{loop}\n{step}"
        notebook = source(services, code)
        request = EstimateRequest(target="cpu", batch_size=24)
        found = services.estimate(notebook, request)
        changes = services.changes(notebook, Submission(request=request), runs=False)
        assert (found.batch_size, found.status, changes.refused) == (24, "ok", ())
        by_hand = services.estimate(source(services, code.replace(before, after)), EstimateRequest(target="cpu"))
        assert found.allocated_peak_bytes == by_hand.allocated_peak_bytes
        assert after in changes.difference and before in changes.difference


PUT_TOGETHER = """import paddle

net = paddle.nn.Linear(8, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
rows = 16


def loader(size):
    data = paddle.io.TensorDataset([paddle.rand([960, 8]), paddle.rand([960, 8])])
    return paddle.io.DataLoader(data, batch_size=size, drop_last=True)


{loop}
    net(paddle.concat([{parts}])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
"""A step of more samples than a batch has."""


@pytest.mark.paddle
@pytest.mark.parametrize(
    ("loop", "parts", "seen"),
    [
        ("for one, other in loader(rows):", "one, other", 48),
        ("for (one, _), (other, _) in zip(loader(rows), loader(rows * 2)):", "one, other", 72),
    ],
)
def test_a_step_that_puts_batches_together_is_that_of_the_program_with_the_batch_written_in(
    services, loop, parts, seen
):
    code = PUT_TOGETHER.format(loop=loop, parts=parts)
    found = services.estimate(source(services, code), EstimateRequest(target="cpu", batch_size=24))
    by_hand = services.estimate(source(services, code.replace("= 16", "= 24")), EstimateRequest(target="cpu"))
    assert (found.batch_size, by_hand.batch_size, found.status) == (seen, seen, "ok")
    assert found.allocated_peak_bytes == by_hand.allocated_peak_bytes
    assert "batch_size_kept" not in {note.code for note in found.notes}, "it is another one"


@pytest.mark.paddle
def test_accumulation_makes_the_same_batches_smaller_whatever_was_asked_before(services):
    made_by_hand = TRAINING.replace("batch_size = 16", "few = dict(rows=16)").replace("batch_size", "few['rows']")
    wish = EstimateRequest(target="cpu", accumulation=2)
    alone = services.estimate(source(services, made_by_hand), wish)
    assert (alone.batch_size, alone.batch_from != ()) == (8, True), "an update sees sixteen samples still"
    asked_before = source(services, f"{made_by_hand}\n# another notebook")
    services.estimate(asked_before, EstimateRequest(target="cpu", batch_size=12))
    assert services.estimate(asked_before, wish).allocated_peak_bytes == alone.allocated_peak_bytes


@pytest.mark.paddle
def test_the_number_in_a_call_sizes_the_batch_and_not_a_loader_that_nobody_reads(services):
    head = TRAINING.split("batch_size")[0]
    step = TRAINING.split("import paddle")[1].replace("batch_size = 16", "").replace("batch_size", "rows")
    function = head + "def train(rows):\n    " + step.strip().replace("\n", "\n    ")
    loader = "loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.rand([100, 8])]), batch_size=20)"
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    cells = [{**CELL, "id": str(i), "source": code} for i, code in enumerate((function, loader, "train(32)"))]
    notebook = services.open("work/train.ipynb", {**content, "cells": cells})
    estimate = services.estimate(notebook, EstimateRequest(target="cpu", batch_size=64))
    assert (estimate.batch_size, [one.cell for one in estimate.batch_from]) == (64, [2])
    settled = settle(services.desk(), notebook, Submission(request=EstimateRequest(batch_size=64), estimate=True))
    assert [cell["source"] for cell in settled.content["cells"]][1:] == [loader, "train(64)"]


@pytest.mark.paddle
def test_what_sizes_the_batch_is_found_beside_changes_that_move_its_line(services):
    made_by_hand = TRAINING.replace("batch_size = 16", "few = dict(rows=16)").replace("batch_size", "few['rows']")
    of_few = TRAINING.replace(
        "for _ in range(5):", "data = paddle.io.TensorDataset([paddle.rand([64, 8])])\nfor x, in data:"
    )
    of_few = of_few.replace("in data:", "in paddle.io.DataLoader(data, batch_size=batch_size):")
    of_few = of_few.replace('paddle.to_tensor(np.zeros([batch_size, 8], "float32"))', "x")
    for code, batch in ((made_by_hand, 24), (of_few, 6000)):
        notebook = source(services, code)
        request = EstimateRequest(target="cpu", batch_size=batch, recompute=True)
        found = services.estimate(notebook, request)
        assert (found.batch_size, found.status) == (batch, "ok")
        changes = services.changes(notebook, Submission(request=request), runs=True)
        assert not changes.refused
        assert f"+{'few = dict(rows=24)' if batch == 24 else 'batch_size = 6000'}" in changes.difference


@pytest.mark.paddle
def test_the_estimate_is_for_the_environment_that_the_job_has(services):
    reading = "import os\n" + TRAINING.replace("batch_size = 16", "batch_size = int(os.environ.get('BATCH', 16))")
    notebook, environment = source(services, reading), {"BATCH": "64"}
    spec = specify(services.desk(), notebook, Submission(environment=environment, estimate=True))
    named = services.estimate(source(services, TRAINING.replace("16", "64")), EstimateRequest(target="cpu"))
    assert (spec.environment, spec.estimated_peak_bytes) == (environment, named.peak_bytes)
    request = EstimateRequest(target="cpu", environment=environment)
    assert services.estimate(notebook, request).peak_bytes == named.peak_bytes
    assert services.estimate(notebook, EstimateRequest(target="cpu")).peak_bytes < named.peak_bytes
    same = specify(services.desk(), notebook, Submission(request=request))
    assert (same.environment, same.estimated_peak_bytes) == (environment, named.peak_bytes), "REST may say it in either"


def test_no_name_of_a_variable_can_be_meant(services):
    with pytest.raises(PaddleGpuError, match="variable"):
        settle(services.desk(), source(services), Submission(environment={"A=B": "1"}))
