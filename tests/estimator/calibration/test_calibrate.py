"""The calibration suite as far as a machine without a GPU can go: real programs, real runs, clear refusals."""

import json
import sys

import pytest

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.machine import CalibrationView
from jupyter_paddle_gpu.domain.devices import Device, DeviceProcess, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.estimator.calibration import calibrate as module
from jupyter_paddle_gpu.estimator.calibration.calibrate import calibrate, taken
from jupyter_paddle_gpu.estimator.calibration.suite import PROGRAMS
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.services.estimates.estimating import Estimating

HOST = HostSample(cpu_count=1, cpu_percent=0.0, memory_total=1, memory_available=1)


@pytest.fixture
def service(tmp_path):
    service = EstimateService(EstimateSettings(calibration=tmp_path / "calibration.json"))
    yield service
    service.close()


@pytest.mark.paddle
def test_on_a_cpu_estimate_and_measurement_stand_side_by_side(service, monkeypatch):
    monkeypatch.setattr(module, "PROGRAMS", {"recurrent": PROGRAMS["recurrent"]})
    said = []
    report = calibrate(service, device="cpu", progress=lambda message: said.append(message.render()))

    row = report.rows[0]
    assert "Ctrl+C" in said[0] and said[1:] == ["1 of 1: recurrent"] and row.program == "recurrent"
    assert "Nothing was kept" in CalibrationView(report).lead(Speech("en")) and report.device == "cpu"
    assert abs(row.estimated_allocated - row.measured_allocated) < 0.05 * row.measured_allocated
    assert report.learned == 0 and not service.calibration.path.exists()


@pytest.mark.paddle
def test_without_a_gpu_it_says_so(service):
    with pytest.raises(PaddleGpuError) as raised:
        calibrate(service, device="gpu:0")

    assert raised.value.code == "calibrate_failed" and raised.value.status == 409
    assert "gpu:0" in raised.value.message.render() and "--device cpu" in raised.value.message.render_hint()


def test_where_no_gpu_is_and_none_is_named_it_begins_nothing():
    nowhere = Estimating(lambda: None, lambda: Inventory(time=0.0, host=HOST), None, None, None)
    with pytest.raises(PaddleGpuError) as raised:
        nowhere.calibrate("", "python3", lambda message: None)

    assert raised.value.code == "calibrate_no_gpu" and "--device cpu" in raised.value.message.render_hint()


def test_without_paddle_it_says_what_to_install(service, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    folder = tmp_path / "kernels" / "empty"
    folder.mkdir(parents=True)
    argv = [sys.executable, "-I", "-S", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "E", "language": "python"}))

    with pytest.raises(PaddleGpuError) as raised:
        calibrate(service, kernel_name="empty")

    assert raised.value.code == "calibrate_no_paddle" and "pip install" in raised.value.message.render_hint()


def _card(used, *processes):
    rows = tuple(DeviceProcess(pid=pid, memory_bytes=size) for pid, size in processes)
    return Device(id="acme-0", index=0, vendor="acme", name="One", memory_used=used, processes=rows)


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        (_card(100), _card(900, (7, 600), (8, 200)), 600),
        (_card(100, (8, 50)), _card(900, (7, None)), 800),
        (_card(100), _card(900), 800),
        (_card(None), _card(900), None),
        (None, None, None),
    ],
    ids=["its own", "not told", "numbered otherwise", "no figure before", "no card"],
)
def test_what_a_process_has_of_any_makers_card_is_the_drivers_word(before, now, found):
    assert taken(before, now, 7) == found
