"""The one-minute calibration: the suite's programs traced and run for real on the person's own device."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec

from ...domain.calibrations import CalibrationReport, CalibrationRow
from ...domain.devices import Accelerator
from ...domain.errors import PaddleGpuError
from ...domain.estimates import Estimate
from ...domain.notebooks import CodeCell, NotebookFacts
from ...domain.what_ifs import EstimateRequest
from ..memory.calibration import Key
from ..service import EstimateService
from ..workers.interpreters import Interpreter, find_interpreter
from .suite import PROGRAMS

REAL_RUN = Path(__file__).parents[1] / "zygote" / "real_run.py"
PROGRAM_SECONDS = 120.0
"""How long one program may take on the device; seconds are usual."""


class Truth(msgspec.Struct, frozen=True):
    """What `zygote/real_run.py` measured, in bytes; None where it cannot be told."""

    allocated: int
    reserved: int | None
    driver: int | None
    device: str
    cuda: str
    paddle_version: str


def calibrate(
    service: EstimateService,
    *,
    device: str = "gpu:0",
    accelerator: Accelerator | None = None,
    kernel_name: str = "python3",
    progress: Callable[[str], None] = lambda program: None,
) -> CalibrationReport:
    """Run the suite on a device and keep the machine's constants.

    Args:
        service: the estimator whose calibration file learns.
        device: Paddle's name of the device; `cpu` compares the allocators' peaks and has nothing to learn.
        accelerator: the card's row of the catalogue; its name is the key under which later estimates look.
        kernel_name: whose interpreter runs it.
        progress: called with each program's name before it starts.

    Raises:
        PaddleGpuError: no Paddle there, no such device (409), or a program that failed on it.
    """
    interpreter = find_interpreter(kernel_name)
    if interpreter.paddle_version is None:
        raise PaddleGpuError(
            "calibrate_no_paddle",
            "The Python of the kernel “{kernel}” has no Paddle to calibrate with.",
            hint="Install it there: {python} -m pip install paddlepaddle-gpu",
            status=409,
            kernel=kernel_name,
            python=interpreter.python,
        )
    rows, learned, truth = [], 0, None
    for program, source in PROGRAMS.items():
        progress(program)
        truth = measure(interpreter, source, device)
        on_gpu = device != "cpu"
        estimate = _estimate(service, source, kernel_name, accelerator, on_gpu=on_gpu)
        rows.append(_row(program, estimate, truth))
        if on_gpu and truth.driver and estimate.terms:
            key = Key(accelerator.name if accelerator else truth.device, truth.cuda, truth.paddle_version)
            service.calibration.observe(key, estimate.terms, truth.driver)
            learned += 1
    assert truth is not None
    return CalibrationReport(
        device=truth.device, paddle_version=truth.paddle_version, cuda=truth.cuda, rows=tuple(rows), learned=learned
    )


def measure(interpreter: Interpreter, source: str, device: str) -> Truth:
    """Run one program for real in the kernel's interpreter."""
    try:
        done = subprocess.run(
            [*interpreter.command, str(REAL_RUN)],
            input=msgspec.json.encode({"source": source, "device": device}),
            capture_output=True,
            timeout=PROGRAM_SECONDS,
            env=interpreter.environ(),
            check=False,
        )
        return msgspec.json.decode(done.stdout.splitlines()[-1], type=Truth)
    except subprocess.TimeoutExpired:
        reason = f"> {PROGRAM_SECONDS:.0f} s"
    except (IndexError, msgspec.DecodeError):
        reason = (done.stderr.decode("utf-8", "replace").strip().splitlines() or [str(done.returncode)])[-1][:300]
    raise PaddleGpuError(
        "calibrate_failed",
        "The calibration could not run on “{device}”: {reason}",
        hint="`jupyter paddle-gpu doctor` says what is missing; `--device cpu` checks the estimate without a card.",
        status=409,
        device=device,
        reason=reason,
    )


def _estimate(
    service: EstimateService, source: str, kernel_name: str, accelerator: Accelerator | None, *, on_gpu: bool
) -> Estimate:
    facts = NotebookFacts(
        kernel_name=kernel_name,
        language="python",
        cells=(CodeCell(index=0, id="program", source=source),),
        imports_paddle=True,
        loop="custom",
    )
    request = EstimateRequest(target="gpu" if on_gpu else "cpu")
    return service.estimate(facts, Path(__file__).parent, request, accelerator)


def _row(program: str, estimate: Estimate, truth: Truth) -> CalibrationRow:
    return CalibrationRow(
        program=program,
        estimated_allocated=estimate.allocated_peak_bytes or 0,
        measured_allocated=truth.allocated,
        estimated_reserved=estimate.reserved_peak_bytes,
        measured_reserved=truth.reserved,
        low=estimate.low if estimate.terms else None,
        high=estimate.high if estimate.terms else None,
        measured_driver=truth.driver,
    )
