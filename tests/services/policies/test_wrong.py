"""While a policy file is wrong, all can be looked at, nothing starts, and mending it is enough."""

from __future__ import annotations

import nbformat
import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.services import dispatching
from jupyter_paddle_gpu.services.service import Services
from jupyter_paddle_gpu.services.settings import Settings


@pytest.fixture
def services(tmp_path):
    (tmp_path / "system.yaml").write_text("resource_policy: {memory_threshold: 0.5}")
    (tmp_path / "paddle-gpu.yaml").write_text("scheduler:\n  algorithm: fifo\n")
    (tmp_path / "a.ipynb").write_text(nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])))
    made = Services(Settings(data_folder=tmp_path, root=tmp_path, system_policy_file=tmp_path / "system.yaml"))
    yield made
    made.close()


def test_all_is_looked_at_and_nothing_starts(services, tmp_path):
    source = services.open("a.ipynb")
    assert list(services.engines) and not services.jobs.list() and services.features()
    # The system's file is whole: its share counts for what is shown.
    assert services.shown_policies().matching.memory_threshold == 0.5
    assert services.match(source).placement.decision.outcome in ("cpu", "run", "wait")
    (problem,) = services.preflight(source).problems
    assert problem.code == "policy_wrong" and f"{tmp_path / 'paddle-gpu.yaml'}:2:3" in problem.render()
    for start in (
        lambda: services.submit(source),
        lambda: services.rerun("any"),
        services.start_jobs,
        lambda: dispatching.job_service(tmp_path),
    ):
        with pytest.raises(PaddleGpuError) as refused:
            start()
        assert refused.value.code == "policy_wrong"
    assert not services.jobs.list()


def test_a_mended_file_holds_without_a_new_server(services, tmp_path):
    before, engines = services.jobs, services.engines
    (tmp_path / "paddle-gpu.yaml").write_text("resource_policy: {memory_threshold: 0.25}")
    assert services.jobs is not before and services.engines is not engines
    assert services.policy.memory_threshold == 0.25
    services.start_jobs()
