"""Whoever looks after a queue goes by the rules that the files have now."""

from __future__ import annotations

from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.services.policies.following import Following
from jupyter_paddle_gpu.services.settings import Settings


def test_rules_follow_their_files_and_a_wrong_one_changes_nothing(tmp_path):
    system, own = tmp_path / "system.yaml", tmp_path / "paddle-gpu.yaml"
    settings = JobSettings(
        follow=Following(Settings(data_folder=tmp_path, system_policy_file=system, policy_file=None), {})
    )
    assert (settings.now().order.timeout, settings.now().common.quotas) == (None, {})
    system.write_text("scheduler: {quotas: {anna: 2}}")
    assert settings.now().common.quotas == {"anna": 2} == settings.now().order.quotas
    own.write_text("scheduler: {timeout: 30}")
    assert (settings.now().order.timeout, settings.now().common.timeout) == (30, None)
    before = settings.now().order
    system.write_text("scheduler: {quotas: many}")
    assert settings.now().order is before
    system.unlink()
    assert settings.now().order.quotas == {}
