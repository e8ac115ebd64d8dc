"""The WebSocket: exact logs, states, devices only for those who want them, and nobody from elsewhere."""

import asyncio
import json

import pytest
from tornado.httpclient import HTTPClientError
from tornado.websocket import websocket_connect

from tests.work import notebook

MANY = 5_000


@pytest.fixture
def socket(jp_ws_fetch):
    async def connect(language="en"):
        return await jp_ws_fetch("paddle-gpu", "api", "events", params={"language": language})

    return connect


@pytest.fixture
def submit(api):
    async def send(source):
        body = {"path": "a.ipynb", "content": notebook(source), "engine": "local"}
        status, job = await api("POST", "jobs", body=body)
        assert status == 201, job
        return job["id"]

    return send


async def read(connection, wanted):
    """Events until `wanted` says yes to one; returns all of them."""
    events = []
    while True:
        message = await asyncio.wait_for(connection.read_message(), 60)
        assert message is not None, "the socket was closed"
        events.append(json.loads(message))
        if wanted(events[-1]):
            return events


def numbers(events):
    return [line["n"] for event in events if event["type"] == "log" for line in event["lines"]]


async def test_states_come_as_they_change(socket, submit, api):
    connection = await socket()
    await connection.write_message(json.dumps({"jobs": True}))
    job_id = await submit("print(1)")
    events = await read(connection, lambda e: e["type"] == "job" and e["job"]["state"] == "succeeded")
    states = [event["job"]["state"] for event in events if event["type"] == "job"]
    assert set(states) <= {"queued", "preparing", "running", "succeeded"}
    await api("DELETE", "jobs", job_id)
    events = await read(connection, lambda e: e["type"] == "job_deleted")
    assert events[-1]["id"] == job_id
    connection.close()


async def test_the_socket_alone_tells_how_a_job_ended(socket, submit):
    # Sockets opened at any moment of a job's life, also after its end, as after a restart of the server.
    job_id = await submit("print(1)")
    seen = ""
    while seen != "succeeded":
        connection = await socket()
        await connection.write_message(json.dumps({"jobs": True}))
        first = (await read(connection, lambda e: True))[0]
        assert first["type"] == "jobs"
        before, seen = seen, next(job["state"] for job in first["jobs"] if job["id"] == job_id)
        if before == "":  # the first one stays open, and hears what comes
            patient = connection
        else:
            connection.close()
    if before:
        await read(patient, lambda e: e["type"] == "job" and e["job"]["state"] == "succeeded")


async def test_silence_is_told_from_a_dead_line(socket, monkeypatch):
    monkeypatch.setattr("jupyter_paddle_gpu.server.feed.ALIVE_SECONDS", 0.2)
    connection = await socket()
    await read(connection, lambda e: e["type"] == "alive")
    connection.close()


async def test_each_line_comes_once_across_reconnects(socket, submit):
    job_id = await submit(f"import time\nfor n in range({MANY}):\n    print(n)\n    n % 50 or time.sleep(0.01)")
    seen, since, ended = [], 0, False
    while not ended:
        connection = await socket()
        await connection.write_message(json.dumps({"logs": {job_id: since}}))
        for _ in range(3):
            event = (await read(connection, lambda e: e["type"] == "log"))[-1]
            assert event["id"] == job_id
            seen += event["lines"]
            since, ended = event["next"], event["ended"]
            if ended:
                break
        connection.close()
    assert [line["n"] for line in seen] == list(range(len(seen)))
    assert [line["x"] for line in seen if line["s"] == "stdout"] == [str(n) for n in range(MANY)]


async def test_a_finished_log_is_sent_and_ended(socket, submit, api):
    job_id = await submit("print(1)")
    while (await api("GET", "jobs", job_id))[1]["state"] != "succeeded":
        await asyncio.sleep(0.1)
    connection = await socket()
    await connection.write_message(json.dumps({"logs": {job_id: 1}}))
    events = await read(connection, lambda e: e.get("ended", False))
    assert numbers(events)[0] == 1
    connection.close()


async def test_a_reader_that_stalls_misses_nothing(socket, submit):
    job_id = await submit(f"for n in range({MANY}):\n    print(n, 'x' * 200)")
    connection = await socket()
    await connection.write_message(json.dumps({"logs": {job_id: 0}, "devices": True}))
    events = await read(connection, lambda e: e["type"] == "log")
    await asyncio.sleep(1)  # the stall itself: nothing is waited for
    events += await read(connection, lambda e: e.get("ended", False))
    assert numbers(events) == list(range(events[-1]["next"]))
    assert events[-1]["next"] > MANY
    connection.close()


async def test_devices_are_sampled_only_for_those_who_want_them(socket, jp_serverapp):
    devices = jp_serverapp.web_app.settings["paddle_gpu_context"].services.devices
    connection = await socket()
    await connection.write_message(json.dumps({"devices": True}))
    events = await read(connection, lambda e: e["type"] == "devices")
    assert events[-1]["inventory"]["host"]["cpu_count"] > 0
    assert devices._sampler.running
    await connection.write_message(json.dumps({"devices": False}))
    await until(lambda: not devices._sampler.running)
    await connection.write_message(json.dumps({"devices": True}))
    await read(connection, lambda e: e["type"] == "devices")
    connection.close()
    await until(lambda: not devices._sampler.running)


async def until(condition):
    async with asyncio.timeout(60) if hasattr(asyncio, "timeout") else _forever():
        while not condition():
            await asyncio.sleep(0.05)


class _forever:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return False


async def test_an_odd_message_is_told_and_forgiven(socket, subtests):
    connection = await socket()
    for message in ("no json", "[]", '{"logs": {"a": "b"}}', '{"devices": 3}'):
        with subtests.test(message=message):
            await connection.write_message(message)
            event = (await read(connection, lambda e: True))[-1]
            assert (event["type"], event["error"]["code"]) == ("error", "bad_subscription")
    await connection.write_message(json.dumps({"logs": {"nope": 0}}))
    event = (await read(connection, lambda e: True))[-1]
    assert (event["type"], event["id"], event["error"]["code"]) == ("error", "nope", "no_such_job")
    connection.close()


async def test_without_a_login_it_is_closed(jp_fetch, jp_base_url, jp_http_port):
    with pytest.raises(HTTPClientError) as caught:
        await websocket_connect(f"ws://localhost:{jp_http_port}{jp_base_url}paddle-gpu/api/events")
    assert caught.value.code == 403


async def test_a_page_from_elsewhere_with_a_cookie_is_refused(jp_serverapp, jp_base_url, jp_http_port, jp_fetch):
    from tornado.httpclient import AsyncHTTPClient, HTTPRequest

    token = jp_serverapp.identity_provider.token
    login = HTTPRequest(f"http://localhost:{jp_http_port}{jp_base_url}lab?token={token}", follow_redirects=False)
    response = await AsyncHTTPClient().fetch(login, raise_error=False)
    cookie = "; ".join(header.split(";")[0] for header in response.headers.get_list("Set-Cookie"))
    assert "username" in cookie
    address = f"ws://localhost:{jp_http_port}{jp_base_url}paddle-gpu/api/events"
    own = HTTPRequest(address, headers={"Cookie": cookie, "Origin": f"http://localhost:{jp_http_port}"})
    connection = await websocket_connect(own)
    connection.close()
    with pytest.raises(HTTPClientError) as caught:
        await websocket_connect(HTTPRequest(address, headers={"Cookie": cookie, "Origin": "http://evil.example"}))
    assert caught.value.code == 403
