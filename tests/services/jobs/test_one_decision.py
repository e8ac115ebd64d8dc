"""What the panel shows, what a submit is checked with before, and what it becomes come from one decision."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import msgspec
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.domain.bounds import check_resources
from jupyter_paddle_gpu.domain.changes import Changes, Refusal
from jupyter_paddle_gpu.domain.decisions import Choice, RefusedError
from jupyter_paddle_gpu.domain.devices import Device, Inventory
from jupyter_paddle_gpu.domain.engines import Features
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.estimates import Estimate, Fit
from jupyter_paddle_gpu.domain.jobs.job import WantedResources
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.scheduling.queue import Standing
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook
from jupyter_paddle_gpu.notices.settings import NoticePolicy
from jupyter_paddle_gpu.services import Submission
from jupyter_paddle_gpu.services.estimates.estimating import Estimating, Where
from jupyter_paddle_gpu.services.jobs.matching import match
from jupyter_paddle_gpu.services.jobs.placing import Site, choice_of
from jupyter_paddle_gpu.services.jobs.submitting import Settled, settle
from jupyter_paddle_gpu.services.jobs.taking import Desk
from tests.matching.situations import HOST
from tests.strategies.placing import GIB, choices, devices, estimates, policies

CELL = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None}
SOURCE = "for x, y in loader:\n    net(x).mean().backward()\n    optimizer.step()"
CONTENT = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{**CELL, "source": SOURCE}]}
NOTEBOOK = parse_notebook(CONTENT, Path("/nowhere/n.ipynb"))
FACTS = inspect_notebook(NOTEBOOK)
OPEN = Estimate(status="needs_input", evidence="scan")
FITTING = Estimate(status="ok", evidence="trace", peak_bytes=1 << 30, low=1 << 30, high=1 << 30)

CARD = Device(id="GPU-0", index=0, vendor="nvidia", name="T4", memory_total=8 * GIB, memory_used=0, memory_free=8 * GIB)
NAMED = EstimateRequest(device="T4")
PICTURES = EstimateRequest(image_size=32)
requests = st.sampled_from(
    [EstimateRequest(), EstimateRequest(on_cpu=True), EstimateRequest(amp="O1"), NAMED, PICTURES]
)


class Shown:
    """Estimates for a GPU and for the CPU, of which those that are there were shown."""

    def __init__(self, estimate: Estimate | None, on_cpu: Estimate | None, refused: tuple[Refusal, ...] = ()) -> None:
        self.estimate, self.on_cpu, self.refused = estimate, on_cpu, refused

    def copy(self, source: Any, request: Any, where: Any, *, facts: Any = None) -> Any:
        return source, Changes(refused=self.refused)

    def known(self, source: Any, request: Any, where: Any) -> Estimate | None:
        return self.on_cpu if request.target == "cpu" else self.estimate

    def was_estimated(self, source: Any) -> bool:
        return False


NO_PLACE = Refusal(change="batch_size", why=Message(code="batch_size_unnamed", text="Nothing says what sizes it."))


def unchanged(request: EstimateRequest, where: Where) -> Changes:
    return Changes()


class Whole(LocalEngine):
    """As one that gives no shares."""

    def supported_features(self) -> Features:
        return msgspec.structs.replace(super().supported_features(), shares=False)


class NoGpus(LocalEngine):
    """As Docker is without its daemon: its jobs get no device."""

    def supported_features(self) -> Features:
        return msgspec.structs.replace(super().supported_features(), gpus=False)


PLAIN = Policy(allow_mixed_precision=False)
SHARING = Policy(sharing="shared", default_share="estimate")


@settings(max_examples=60)
@example((), FITTING, Policy(), Choice(), False, 1 << 50, NAMED, LocalEngine(), None, ())
@example((), FITTING, Policy(), Choice(), False, 1 << 50, PICTURES, LocalEngine(), None, ())
@example((CARD,), FITTING, SHARING, Choice(), False, 1 << 30, EstimateRequest(), LocalEngine(), 1.0, ())
@example((CARD,), FITTING, SHARING, Choice(), False, 1 << 30, EstimateRequest(), LocalEngine(), 0.01, ())
@example((CARD,), FITTING, Policy(), Choice(), False, 1 << 30, EstimateRequest(), Whole(), 0.5, ())
@example((CARD,), FITTING, Policy(), Choice(), True, 1 << 30, EstimateRequest(), LocalEngine(), None, (NO_PLACE,))
@example((), FITTING, PLAIN, Choice(), True, 1 << 30, EstimateRequest(amp="O1"), LocalEngine(), None, ())
@given(
    devices(),
    estimates(),
    policies,
    choices,
    st.booleans(),
    st.sampled_from([1 << 30, 1 << 50]),
    requests,
    st.sampled_from([LocalEngine(), NoGpus(), Whole()]),
    st.sampled_from([None, None, 1.0, 0.5, 0.01, 6.0 * GIB]),
    st.sampled_from([(), (), (NO_PLACE,)]),
)
def test_panel_preflight_and_submit_decide_the_same(
    here: tuple[Device, ...],
    estimate: Estimate | None,
    policy: Policy,
    choice: Choice,
    anyway: bool,
    step: int,
    request: EstimateRequest,
    engine: LocalEngine,
    share: float | None,
    refused: tuple[Refusal, ...],
) -> None:
    inventory, named = Inventory(time=0, host=HOST, devices=here), choice
    resources = WantedResources(gpus=named.gpus, device_ids=named.device_ids, share=share)
    try:
        check_resources(resources)  # as `Services.match`
        choice = choice_of(engine, inventory, request, choice.gpus, choice.device_ids)
    except PaddleGpuError:
        assume(False)
    settled = {"engines": {"local": engine}, "inventory": lambda: inventory}
    settled["standing"] = lambda engine, devices, share=None: Standing()
    settled["policies"] = SimpleNamespace(matching=policy, notices=NoticePolicy(), beside_file="", policy_file="")
    on_cpu = None
    if estimate is not None:  # neither figure is the other's
        on_cpu = Estimate(status="ok", evidence="trace", target="cpu", allocated_peak_bytes=step)
        estimate = msgspec.structs.replace(estimate, allocated_peak_bytes=(1 << 80) // step)
    meant = Estimating(
        estimator=Mock(), find=find, policy=lambda: policy, inventory=lambda: inventory, cache=Mock()
    ).meant

    def estimated(asked: EstimateRequest, where: Where) -> Estimate:
        found = (on_cpu if meant(asked, where).target == "cpu" else estimate) or OPEN
        if asked.image_size is None or found is OPEN:
            return found
        return msgspec.structs.replace(found, peak_bytes=1, low=1, high=1, allocated_peak_bytes=1)

    def changed(asked: EstimateRequest, where: Where) -> Changes:
        return Changes(refused=refused)

    of = {"meant": meant, "whole": estimated, "gpus": named.gpus, "device_ids": named.device_ids}
    of |= {"share": share, "changed": changed}
    panel = match(Site(**settled), FACTS, estimated, request, **of).placement.decision
    if refused or (request.amp and not policy.allow_mixed_precision):
        assert panel.outcome == "refuse" and panel.final
    if not panel.final and request.on_cpu and named == Choice():
        assert panel.outcome in ("cpu", "refuse") and not panel.device_ids, "cells that take the CPU have no device"
    wish = Submission(
        request=request, resources=resources, anyway=anyway, estimate=None if estimate is not None else False
    )
    desk = Desk(**settled, estimates=Shown(estimate, on_cpu, refused))

    def asked(*, runs: bool) -> Settled | RefusedError:
        try:
            return settle(desk, NOTEBOOK, wish, runs=runs)
        except RefusedError as refused:
            return refused

    for answer in (asked(runs=False), asked(runs=True)):
        decision = answer.decision
        if not anyway or panel.outcome != "refuse" or panel.final:  # who insists waits for a device
            assert (decision.outcome, decision.reason, decision.device_ids) == (
                panel.outcome,
                panel.reason,
                panel.device_ids,
            )
        if isinstance(answer, RefusedError):
            assert panel.outcome == "refuse" and (panel.final or not anyway)
        elif decision.outcome in ("run", "wait"):
            assert decision.shares == panel.shares
            assert answer.spec.resources.gpus == (choice.gpus or 1)
            assert answer.spec.resources.device_ids == choice.device_ids
        elif decision.outcome == "cpu":
            assert answer.spec.resources.gpus == 0 and answer.spec.on_cpu == decision.reason


def test_what_fits_the_machine_is_sought_for_who_is_refused() -> None:
    inventory, asked = Inventory(time=0, host=HOST), list[EstimateRequest]()
    policies = SimpleNamespace(matching=Policy())
    site = Site(
        engines={"local": LocalEngine()}, inventory=lambda: inventory, standing=lambda *_: Standing(), policies=policies
    )
    large = Estimate(status="ok", evidence="trace", target="cpu", batch_size=64, allocated_peak_bytes=1 << 50)
    fit = Fit(device="cpu", limit_bytes=1 << 30, largest_batch=8)

    def estimated(request: EstimateRequest, where: Where) -> Estimate:
        asked.append(request)
        if request.device:
            return FITTING
        return msgspec.structs.replace(large, fits=(fit,) if request.details and request.target == "cpu" else ())

    def meant(request: EstimateRequest, where: Where) -> EstimateRequest:
        return msgspec.structs.replace(request, target=request.target or ("gpu" if request.device else "cpu"))

    for request in (NAMED, EstimateRequest()):
        of = {"whole": estimated, "meant": meant, "changed": unchanged}
        first = match(site, FACTS, estimated, request, **of).placement.decision
        assert (first.outcome, first.ways, any(one.details for one in asked)) == ("refuse", (), False)
        asked.clear()
        detailed = msgspec.structs.replace(request, details=True)
        then = match(site, FACTS, estimated, detailed, **of).placement.decision
        assert [way.request for way in then.ways] == [{"batch_size": 8}]
        asked.clear()


def test_a_notebook_that_starts_its_processes_gets_a_device_for_each() -> None:
    launch = "!python -m paddle.distributed.launch --nproc_per_node 2 train.py"
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{**CELL, "source": launch}]}
    notebook = parse_notebook(content, Path("/nowhere/n.ipynb"))
    for count, outcome in ((3, "run"), (1, "refuse")):
        cards = tuple(
            Device(
                id=f"GPU-{at}", index=at, vendor="nvidia", name="Card",
                memory_total=8 * GIB, memory_used=0, memory_free=8 * GIB,
            )
            for at in range(count)
        )  # fmt: skip
        inventory = Inventory(time=0, host=HOST, devices=cards)
        settled = {"engines": {"local": LocalEngine()}, "inventory": lambda inventory=inventory: inventory}
        settled["standing"] = lambda engine, devices, share=None: Standing()
        settled["policies"] = SimpleNamespace(matching=Policy(), notices=NoticePolicy(), beside_file="", policy_file="")
        made = lambda asked, where: FITTING  # noqa: E731
        meant = lambda asked, where: msgspec.structs.replace(asked, target="gpu")  # noqa: E731
        facts = inspect_notebook(notebook)
        asked = EstimateRequest()
        of = {"whole": made, "meant": meant, "changed": unchanged}
        panel = match(Site(**settled), facts, made, asked, **of).placement.decision
        assert panel.outcome == outcome, panel
        desk = Desk(**settled, estimates=Shown(FITTING, None))
        try:
            spec = settle(desk, notebook, Submission(), runs=False).spec
        except RefusedError as refused:
            assert (outcome, refused.decision.reason) == ("refuse", panel.reason)
        else:
            assert (spec.resources.gpus, spec.processes, len(panel.device_ids)) == (2, 1, 2)


def test_who_asked_for_nothing_is_not_told_that_he_asked_for_the_cpu() -> None:
    card = Device(
        id="GPU-0", index=0, vendor="nvidia", name="T4", memory_total=8 * GIB, memory_used=0, memory_free=8 * GIB
    )
    inventory = Inventory(time=0, host=HOST, devices=(card,))
    for engine, request, gpus, code in (
        (NoGpus(), EstimateRequest(), None, "cpu_not_given"),
        (NoGpus(), EstimateRequest(), 0, "cpu_on_request"),
        (NoGpus(), EstimateRequest(on_cpu=True), None, "cpu_on_request"),
        (LocalEngine(), EstimateRequest(on_cpu=True), None, "cpu_on_request"),
    ):
        policies = SimpleNamespace(matching=Policy(), notices=NoticePolicy())
        site = Site(
            engines={"local": engine}, inventory=lambda: inventory, standing=lambda *_: Standing(), policies=policies
        )

        def meant(asked: EstimateRequest, where: Where) -> EstimateRequest:
            return msgspec.structs.replace(asked, target=asked.target or "cpu")

        def estimated(asked: EstimateRequest, where: Where) -> Estimate:
            return FITTING

        of = {"meant": meant, "whole": estimated, "gpus": gpus, "changed": unchanged}
        found = match(site, FACTS, estimated, request, **of).placement.decision
        assert (found.outcome, found.reason.code) == ("cpu", code)
