import asyncio

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
