"""Whoever looks after a queue goes by the rules that the files have now."""

from __future__ import annotations

import msgspec

from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.services.policies import market
from jupyter_paddle_gpu.services.policies.following import Following
from jupyter_paddle_gpu.services.service import Services
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


def test_prices_follow_their_files_for_whoever_waits_for_a_lower_one(tmp_path):
    """`submit --when "cost<2"` waits in a server that has read its policy long before."""
    own = tmp_path / "paddle-gpu.yaml"
    own.write_text("resource_policy: {prices: {RTX 3090: 3.0}}")
    services = Services(Settings(data_folder=tmp_path, system_policy_file=tmp_path / "none.yaml"))
    assert services.policy.prices == {"RTX 3090": 3.0}
    planner = services.jobs._reconciler.planner
    own.write_text("resource_policy: {prices: {RTX 3090: 1.5}}")
    assert services.policy.prices == {"RTX 3090": 1.5}
    # What a job costs is said by whoever gives it its devices.
    assert planner.policy.prices == {"RTX 3090": 1.5}
    own.write_text("resource_policy: {prices: 7}")
    assert services.policy.prices == {"RTX 3090": 1.5}
    (tmp_path / market.FILE).write_bytes(msgspec.json.encode(market.Market(date="2026-11-28", prices={"T4": 0.2})))
    own.unlink()
    assert (services.policy.prices, services.policy.market) == ({}, {"T4": 0.2})
    services.close()


def test_a_file_that_becomes_wrong_is_told_beside_what_goes_on(tmp_path):
    own = tmp_path / "paddle-gpu.yaml"
    own.write_text("resource_policy: {memory_threshold: 0.5}")
    services = Services(Settings(data_folder=tmp_path, system_policy_file=tmp_path / "none.yaml"))
    assert (services.policy.memory_threshold, services.policy_notes()) == (0.5, ())
    own.write_text("resource_policy: {memory_threshold: [}")
    (note,) = services.policy_notes()
    assert (note.code, note.params["why"].code) == ("policy_kept", "policy_unreadable")
    assert f"{own}:1:" in note.render()
    assert services.policy.memory_threshold == 0.5
    own.unlink()
    assert services.policy_notes() == ()
    services.close()
