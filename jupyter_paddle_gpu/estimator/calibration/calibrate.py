"""The one-minute calibration: the suite's programs traced and run for real on the person's own device."""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from ...domain.decoding import decode
from ...domain.devices import Accelerator, Device
from ...domain.errors import PaddleGpuError
from ...domain.estimates import Estimate
from ...domain.measurements.calibrations import CalibrationReport, CalibrationRow
from ...domain.messages import Message, Param
from ...domain.notebooks import CodeCell, NotebookFacts
from ...domain.what_ifs import EstimateRequest
from ..memory.calibration import Key
from ..service import EstimateService
from ..workers.interpreters import Interpreter, find_interpreter
from .suite import PROGRAMS

REAL_RUN = Path(__file__).parents[1] / "zygote" / "real_run.py"
PROGRAM_SECONDS = 600.0
"""How long one program may take; seconds are usual on a GPU, half a minute on two cores."""


Look = Callable[[float], Device | None]
"""The device as it was read at a moment or later (seconds since the epoch); None: there is none, or it is the CPU."""


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """What `zygote/real_run.py` measured, in bytes; None where it cannot be told.

    Attributes:
        driver: what the device's driver counts for the process.
        pid: of the process.
    """

    allocated: int
    reserved: int | None
    driver: int | None = None
    device: str
    cuda: str
    paddle_version: str
    pid: int = 0


def calibrate(
    service: EstimateService,
    *,
    device: str = "gpu:0",
    accelerator: Accelerator | None = None,
    kernel_name: str = "python3",
    look: Look = lambda since: None,
    progress: Callable[[Message], None] = lambda message: None,
) -> CalibrationReport:
    """Run the suite on a device and keep the machine's constants.

    Args:
        service: the estimator whose calibration file learns.
        device: Paddle's name of the device; `cpu` compares the allocators' peaks and has nothing to learn.
        accelerator: the card's row of the catalogue; its name is the key under which later estimates look.
        kernel_name: whose interpreter runs it.
        look: reads the device.
        progress: called with what will be done, then with each program before it starts.

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
    count = len(PROGRAMS)
    progress(
        Message(
            code="calibrate_begins",
            text="{count} small trainings follow: each runs for real on {device} and is estimated beside it, which "
            "takes some minutes. Ctrl+C ends it; what a GPU has taught by then is kept.",
            params={"count": count, "device": device},
        )
    )
    for number, (program, source) in enumerate(PROGRAMS.items(), 1):
        told: dict[str, Param] = {"number": number, "count": count, "program": program}
        progress(Message(code="calibrate_step", text="{number} of {count}: {program}", params=told))
        truth = measure(interpreter, program, device, look)
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


def no_gpu() -> PaddleGpuError:
    """The refusal where there is no GPU: nothing is begun that teaches nothing."""
    return PaddleGpuError(
        "calibrate_no_gpu",
        "There is no GPU here that could be measured.",
        hint="Run `jupyter paddle-gpu calibrate` on a machine that has one: five small trainings are traced and run "
        "there, and estimates learn from what they take. On the CPU `jupyter paddle-gpu calibrate --device cpu` "
        "compares them alone, in some minutes.",
        status=409,
    )


def measure(interpreter: Interpreter, program: str, device: str, look: Look) -> Truth:
    """Run one program for real in the kernel's interpreter, and see meanwhile what it takes of the device."""
    source, before, reason = PROGRAMS[program], look(time.time()), ""
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            [*interpreter.command, str(REAL_RUN)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=interpreter.environ(),
        ) as process,
    ):
        late = threading.Timer(PROGRAM_SECONDS, process.kill)
        late.start()
        try:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(msgspec.json.encode({"source": source, "device": device}) + b"\n")
            process.stdin.flush()
            truth = decode(process.stdout.readline(), Truth)
            return msgspec.structs.replace(truth, driver=taken(before, look(time.time()), truth.pid))
        except (BrokenPipeError, msgspec.DecodeError):
            process.kill()
            process.wait()
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace").strip().splitlines()
            reason = said[-1][:300] if said else f"exit status {process.returncode}"
        finally:
            was_late = not late.is_alive()
            late.cancel()
    if was_late:
        raise PaddleGpuError(
            "calibrate_too_slow",
            "The training “{program}” of the calibration took more than {seconds} seconds on “{device}” and was ended.",
            hint="Try again when less else runs there.",
            status=409,
            program=program,
            seconds=round(PROGRAM_SECONDS),
            device=device,
        )
    raise PaddleGpuError(
        "calibrate_failed",
        "The calibration could not run on “{device}”: {reason}",
        hint="`jupyter paddle-gpu doctor` says what is missing; `--device cpu` checks the estimate without a card.",
        status=409,
        device=device,
        reason=reason,
    )


def taken(before: Device | None, now: Device | None, pid: int) -> int | None:
    """Bytes of a device that a process has: as its driver counts them, else what there is more in use than before,
    which is right where nobody else uses the card meanwhile. None where the driver tells neither."""
    if now is None:
        return None
    own = next((process.memory_bytes for process in now.processes if process.pid == pid), None)
    if own is not None:
        return own
    if before is None or before.memory_used is None or now.memory_used is None:
        return None
    return now.memory_used - before.memory_used


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
