import asyncio
import logging

import pytest

from jupyter_paddle_gpu import __version__


async def test_version_tells_the_server_half_is_there(api):
    assert await api("GET", "version") == (200, {"version": __version__})


async def test_errors_are_code_message_hint_in_the_readers_language(api):
    status, error = await api("POST", "inspections", body={"path": "../x.ipynb"})
    assert (status, error["code"]) == (403, "outside_root")
    assert set(error) == {"code", "message", "hint"}


async def test_a_bad_body_names_the_field(api):
    status, error = await api("POST", "estimates", body={"path": "a.ipynb", "request": {"batch_size": "big"}})
    assert status == 400
    assert "$.request.batch_size" in error["message"]
    status, error = await api("POST", "estimates", body={"path": "a.ipynb", "pahts": 1})
    assert status == 400
    assert "pahts" in error["message"]
    status, error = await api("POST", "estimates", body="{")
    assert (status, error["code"]) == (400, "bad_body")


async def test_the_history_of_devices_grows_with_each_look(api):
    first = await api("GET", "devices/history")
    assert first[0] == 200
    _, inventory = await api("GET", "devices")
    status, history = await api("GET", "devices/history", seconds="60", points="10")
    assert status == 200
    assert [device["id"] for device in history["devices"]] == [device["id"] for device in inventory["devices"]]
    assert round(history["until"] - history["since"]) == 60
    status, error = await api("GET", "devices/history", seconds="100000")
    assert (status, error["code"]) == (400, "bad_argument")


async def test_prometheus_finds_our_figures_beside_the_servers(jp_serverapp, jp_fetch, api):
    for _ in range(3600):
        text = (await jp_fetch("metrics")).body.decode()
        if "paddle_gpu_placements_total" in text:  # of the first sample, for which no scrape waits
            break
        await asyncio.sleep(0.05)
    assert "paddle_gpu_info" in text
    assert "http_request_duration_seconds" in text


@pytest.fixture
def wrong_policy(data_folder):
    """The server starts with a policy file that cannot be read."""
    data_folder.mkdir(parents=True, exist_ok=True)
    (data_folder / "paddle-gpu.yaml").write_text("matching: [")
    return data_folder / "paddle-gpu.yaml"


async def test_a_wrong_policy_file_is_one_line_in_the_log_until_it_changes(wrong_policy, api, caplog):
    caplog.set_level(logging.DEBUG)
    for read in ("engines", "jobs", "queue", "devices"):
        assert (await api("GET", read))[0] == 200
    for _ in range(2):
        status, error = await api("GET", "receivers")
        assert (status, error["code"]) == (503, "policy_unreadable")
        assert str(wrong_policy) in error["message"] and error["hint"]

    def told():
        return [one for one in caplog.records if one.levelno >= logging.ERROR and str(wrong_policy) in one.getMessage()]

    assert len(told()) <= 1  # whoever starts the jobs may have told it before
    assert not any(one.exc_info for one in caplog.records if str(wrong_policy) in one.getMessage())
    wrong_policy.write_text("engine: slurm")
    before = len(told())
    for _ in range(2):
        assert (await api("GET", "receivers"))[1]["code"] == "policy_wrong"
    assert len(told()) == before + 1
    wrong_policy.unlink()
    assert (await api("GET", "receivers"))[0] == 200
