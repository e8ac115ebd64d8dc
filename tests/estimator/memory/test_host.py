"""What a training takes of the machine's own memory: the rule, and notebooks whose data has a known size."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.domain.estimates import Breakdown, Estimate
from jupyter_paddle_gpu.domain.notebooks import CodeCell, NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.memory.host import CUDA, OBJECT, PROCESS, STEP, WORKER, host_memory
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.estimator.trace import Trace, TracedHost
from jupyter_paddle_gpu.estimator.zygote import resident

MIB = 1 << 20
TRAIN = """
model = paddle.nn.Linear(FEATURES, 4)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
def train(x):
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ARRAY = (
    "import numpy as np, paddle\nFEATURES = 750\ndata = np.ones((100_000, 750), 'float32')"
    + TRAIN
    + "for start in range(0, 100_000, 5000): train(paddle.to_tensor(data[start:start + 5000]))"
)
"""300 MB of data and little else."""
LOOKS = 8 * MIB
"""Pages of files mapped between a peak and the next look are taken for files at the peak too: so much the figure may be
low (8 KiB was seen)."""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    made = EstimateService(EstimateSettings(calibration=tmp_path_factory.mktemp("data") / "calibration.json"))
    yield made
    made.close()


@pytest.fixture
def estimated(service, tmp_path):
    def ask(source: str, target: str = "cpu") -> Estimate:
        cells = (CodeCell(index=0, id="a", source=source),)
        facts = NotebookFacts(kernel_name="python3", language="python", cells=cells, imports_paddle=True, loop="custom")
        return service.estimate(facts, tmp_path, EstimateRequest(target=target))

    return ask


def trace(**host: object) -> Trace:
    return Trace(status="ok", shared_memory=7, host=TracedHost(**{"grown": 0, **host}))


def test_the_parts_add_up():
    breakdown = Breakdown(parameters=10, gradients=10, optimizer_state=20)
    seen = trace(workers=2, batch=100, waiting=600, stand_ins=5, objects=1000, allocated=400, grown=1)
    found = host_memory(seen, breakdown, cpu_peak=300)
    assert found.bytes == sum(
        (found.process, found.data, found.tensors, found.batches, found.checkpoint, found.workers, found.shared_memory)
    )
    assert (found.process, found.data) == (PROCESS, 16 * MIB + 5)
    assert (found.tensors, found.batches, found.checkpoint) == (600, 100, 30)
    assert (found.workers, found.loader_workers) == (2 * (WORKER + 1000 * OBJECT + 200), 2)
    assert found.shared_memory == 7
    assert host_memory(seen, breakdown, cpu_peak=500).tensors == 750


def test_on_a_device_tensors_are_not_the_hosts_and_batches_wait_there():
    found = host_memory(trace(batch=100, waiting=600, allocated=400), Breakdown(), cpu_peak=None)
    assert (found.process, found.tensors, found.batches) == (PROCESS + CUDA, 0, 600)


def test_nothing_is_said_where_nothing_was_seen():
    assert host_memory(Trace(status="ok"), Breakdown(), cpu_peak=1) is None
    assert host_memory(trace(grown=None), Breakdown(), cpu_peak=1) is None


def test_an_estimate_of_before_has_no_figure():
    old = msgspec.json.encode({"status": "ok", "evidence": "trace", "peak_bytes": 5})
    assert msgspec.json.decode(old, type=Estimate).host is None


def test_pages_that_a_file_stands_behind_are_no_growth(tmp_path):
    """The kernel drops them where memory runs short."""
    (tmp_path / "data.bin").write_bytes(bytes(200 * MIB))
    code = (
        "import sys, numpy\nsys.path.insert(0, sys.argv[1])\nfrom resident import Growth\ngrowth = Growth()\n"
        "file = numpy.memmap(sys.argv[2], 'uint8', 'r')\ntotal = file.sum()\nprint(growth.peak())\n"
        "array = numpy.ones(200 << 20, 'uint8')\ndel array\nprint(growth.peak())"
    )
    command = [sys.executable, "-c", code, str(Path(resident.__file__).parent), str(tmp_path / "data.bin")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    mapped, grown = map(int, done.stdout.split())
    assert mapped < 64 * MIB
    assert 200 * MIB - LOOKS <= grown < 264 * MIB


def test_elsewhere_than_on_linux_nothing_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(resident, "STATUS", tmp_path / "status")
    assert resident.Growth().peak() is None


@pytest.mark.paddle
def test_data_that_cells_make_is_measured(estimated):
    host = estimated(ARRAY).host
    assert 300e6 - LOOKS <= host.data <= 300e6 + 64 * MIB
    assert host.bytes < 300e6 + PROCESS + 128 * MIB
    on_device = estimated(ARRAY, "gpu").host
    assert abs(on_device.data - host.data) <= STEP  # each is rounded up: 2 MiB below a step, they may take two
    assert on_device.tensors == 0


@pytest.mark.paddle
def test_what_is_freed_again_counts(estimated):
    tail = "FEATURES = 8" + TRAIN + "for _ in range(3): train(paddle.ones([4, 8]))"
    freed = "import numpy as np, paddle\nraw = np.ones(25_000_000)\nmean = float(raw.mean())\ndel raw\n" + tail
    assert 200e6 - LOOKS <= estimated(freed).host.data <= 200e6 + 64 * MIB


@pytest.mark.paddle
def test_a_data_set_that_becomes_one_tensor_is_there_twice(estimated):
    """As an array, and as a tensor that the tracer gives no memory."""
    source = ARRAY.replace("train(paddle.to_tensor(data[start:start + 5000]))", "train(x[start:start + 5000])")
    host = estimated(source.replace("FEATURES = 750", "FEATURES = 750; epochs = 1").replace(
        "for start", "x = paddle.to_tensor(data)\nfor start")).host  # fmt: skip
    assert host.data >= 300e6 - LOOKS
    assert host.tensors >= 300e6


@pytest.mark.paddle
def test_what_stands_before_the_step_alone_is_the_tensors_peak(estimated):
    source = (
        "import paddle\nFEATURES = 8\nall_of_it = paddle.rand([1000, 50_000])\nscale = float(all_of_it.shape[0])\n"
        "del all_of_it" + TRAIN + "for _ in range(3): train(paddle.ones([4, 8]))"
    )
    estimate = estimated(source)
    assert estimate.host.tensors >= 200e6 > estimate.peak_bytes


LOADER = (
    """
import numpy as np, paddle
FEATURES = 1000
class Data(paddle.io.Dataset):
    rows = [(n, float(n)) for n in range(200_000)]
    def __getitem__(self, i):
        return np.zeros([1000], "float32"), i
    def __len__(self):
        return 6400
"""
    + TRAIN
    + "for x, y in paddle.io.DataLoader(Data(), batch_size=64, num_workers=WORKERS): train(x)"
)


@pytest.mark.paddle
def test_workers_copy_pythons_objects(estimated):
    one, four = (estimated(LOADER.replace("WORKERS", str(count))).host for count in (1, 4))
    assert (one.loader_workers, four.loader_workers) == (1, 4)
    objects = 3 * 200_000  # a tuple, an int and a float each
    assert four.workers >= 4 * (WORKER + objects * 40)
    assert four.workers == pytest.approx(4 * one.workers, rel=0.05)
    assert (estimated(LOADER.replace("WORKERS", "0")).host.workers, one.shared_memory) == (0, 3 * 64 * 4008)


@pytest.mark.paddle
def test_a_data_set_known_by_its_shapes_counts_in_full(estimated):
    source = (
        "import paddle\nfrom paddle.vision.datasets import MNIST\nFEATURES = 784\n"
        "data = MNIST(mode='train', transform=paddle.vision.transforms.ToTensor())"
        + TRAIN
        + "for x, y in paddle.io.DataLoader(data, batch_size=32): train(x.reshape([-1, 784]))"
    )
    estimate = estimated(source)
    if any(note.code == "dataset_stand_in" for note in estimate.notes):
        assert estimate.host.data >= 60_000 * (784 * 4 + 8)
    else:  # the files are on this machine
        assert estimate.host.data >= 60_000 * 784 - LOOKS


REAL = """
import json, sys
exec(compile(sys.stdin.read(), "training", "exec"), {"__name__": "__main__"})
lines = open("/proc/self/status").read().splitlines()
print(json.dumps({line.split(":")[0]: int(line.split()[1]) << 10 for line in lines if line.startswith(("Vm", "Rss"))}))
"""


@pytest.mark.paddle
@pytest.mark.parametrize("source", [ARRAY, ARRAY.replace("np.ones(", "1 + np.zeros(")])
def test_a_real_run_takes_no_more(estimated, source):
    """The training itself, in a process of its own: its own peak is within the figure, and the figure not far off."""
    done = subprocess.run([sys.executable, "-c", REAL], input=source, capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    peak = seen["VmHWM"] - seen["RssFile"]
    host = estimated(source).host
    assert peak <= host.bytes <= 2 * peak
