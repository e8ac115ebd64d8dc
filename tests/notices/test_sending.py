"""Each kind of receiver gets what its maker takes, signed as its maker checks it; secrets stay where they are."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
from collections.abc import Callable
from email import message_from_bytes
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Job
from jupyter_paddle_gpu.i18n import translator
from jupyter_paddle_gpu.notices.sending import is_final, send
from jupyter_paddle_gpu.notices.settings import MailServer, NoticePolicy, Receiver

from .conftest import Robot

SECRET = "SEC-of-the-robot"
Ended = Callable[..., Job]


def hmac_by_openssl(key: str, text: str) -> bytes:
    """Another implementation than the one that is tested."""
    command = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key.encode().hex()}", "-binary"]
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout


def free_port() -> int:
    """The mail server wants to know its port before it listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def tell(robot: Robot, job: Job, kind: str, **fields: Any) -> tuple[str, dict[str, str], Any]:
    policy = NoticePolicy(receivers={"lab": Receiver(kind=kind, url=robot.url, **fields)})
    starts: list[int] = []
    before = len(robot.came)
    send(policy, "lab", job, translator, lambda: starts.append(len(robot.came)))
    assert starts == [before]  # told once, before it arrived
    path, headers, body = robot.came[-1]
    return path, headers, json.loads(body)


def test_a_program_gets_json_signed_over_the_body(robot: Robot, ended: Ended) -> None:
    _, headers, body = tell(robot, ended(), "json", secret=SECRET)
    assert (body["state"], body["name"], body["metrics"]) == ("succeeded", "tagger", {"loss": 0.25, "acc": 0.91})
    raw = robot.came[-1][2].decode()
    assert headers["X-Paddle-GPU-Signature"] == "sha256=" + hmac_by_openssl(SECRET, raw).hex()
    assert headers["Idempotency-Key"] == "20260101-abc/lab"
    assert "do-not-tell" not in raw


def test_feishu(robot: Robot, ended: Ended) -> None:
    robot.answers = [(200, b'{"code":0,"msg":"success"}')]
    _, _, body = tell(robot, ended("failed"), "feishu", secret=SECRET)
    assert body["msg_type"] == "text" and body["content"]["text"].startswith("tagger: failed\nCell 6 raised <KeyError>")
    key = f"{body['timestamp']}\n{SECRET}"
    assert base64.b64decode(body["sign"]) == hmac_by_openssl(key, "")


def test_dingtalk(robot: Robot, ended: Ended) -> None:
    robot.answers = [(200, b'{"errcode":0,"errmsg":"ok"}')]
    path, _, body = tell(robot, ended(), "dingtalk", secret=SECRET, language="zh_CN")
    assert body["msgtype"] == "text" and body["text"]["content"].startswith("tagger：已完成")
    asked = parse_qs(urlsplit(path).query)
    stamp = asked["timestamp"][0]
    assert len(stamp) == 13
    assert base64.b64decode(asked["sign"][0]) == hmac_by_openssl(SECRET, f"{stamp}\n{SECRET}")


def test_wecom_and_slack(robot: Robot, ended: Ended) -> None:
    robot.answers = [(200, b'{"errcode":0,"errmsg":"ok"}'), (200, b"ok")]
    assert "loss 0.25 · acc 0.91" in tell(robot, ended(), "wecom")[2]["text"]["content"]
    assert "&lt;KeyError&gt; &amp; more" in tell(robot, ended("failed"), "slack")[2]["text"]


@pytest.mark.parametrize(
    ("kind", "answer", "final"),
    [
        ("feishu", (200, b'{"code":19021,"msg":"sign match fail"}'), True),
        ("wecom", (200, b'{"errcode":93000,"errmsg":"invalid webhook url"}'), True),
        ("json", (404, b""), True),
        ("json", (302, b""), True),
        ("json", (503, b""), False),
        ("slack", (429, b""), False),
    ],
)
def test_a_refusal_is_told_without_the_address(
    robot: Robot, ended: Ended, kind: str, answer: tuple[int, bytes], final: bool
) -> None:
    robot.answers = [answer]
    with pytest.raises(PaddleGpuError) as caught:
        tell(robot, ended(), kind)
    assert caught.value.code == "notice_refused" and is_final(caught.value) == final
    assert "THE-KEY" not in str(caught.value) + repr(caught.value.message)


def test_who_cannot_be_reached_is_told_without_the_address(ended: Ended) -> None:
    policy = NoticePolicy(receivers={"lab": Receiver(url="http://127.0.0.1:9/hook/THE-KEY")})
    starts: list[int] = []
    with pytest.raises(PaddleGpuError) as caught:
        send(policy, "lab", ended(), translator, lambda: starts.append(1))
    assert caught.value.code == "notice_unreachable" and not is_final(caught.value) and not starts
    assert "THE-KEY" not in str(caught.value) + repr(caught.value.message)


class Letters:
    def __init__(self) -> None:
        self.came: list[Any] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.came.append(envelope)
        return "250 OK"


def test_mail_goes_by_the_places_server(ended: Ended, tmp_path: Path) -> None:
    letters = Letters()
    controller = Controller(letters, hostname="127.0.0.1", port=free_port())
    controller.start()
    try:
        port = controller.server.sockets[0].getsockname()[1]
        server = MailServer(host="127.0.0.1", port=port, security="none", sender="jobs@lab.example")
        policy = NoticePolicy(receivers={"us": Receiver(kind="mail", to=("a@x.example", "b@x.example"))}, mail=server)
        send(policy, "us", ended("failed"), translator, lambda: None)
        send(policy, "me@x.example", ended(), translator, lambda: None)
    finally:
        controller.stop()
    first, second = letters.came
    assert first.rcpt_tos == ["a@x.example", "b@x.example"] and first.mail_from == "jobs@lab.example"
    assert b"Subject: tagger: failed" in first.content and b"Cell 6 raised <KeyError> & more." in first.content
    assert second.rcpt_tos == ["me@x.example"] and message_from_bytes(second.content)["Message-ID"].strip().startswith(
        "<"
    )


def test_a_password_goes_over_a_closed_line_only(ended: Ended, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject, *files]
    subprocess.run(new, check=True, capture_output=True)
    import ssl

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    seen: list[LoginPassword] = []

    def authenticate(_server: Any, _session: Any, _envelope: Any, _mechanism: str, data: LoginPassword) -> AuthResult:
        seen.append(data)
        return AuthResult(success=data.password == b"right")

    letters = Letters()
    controller = Controller(
        letters, hostname="localhost", port=free_port(), tls_context=context, require_starttls=True,
        authenticator=authenticate, auth_required=True,
    )  # fmt: skip
    controller.start()
    try:
        port = controller.server.sockets[0].getsockname()[1]
        (tmp_path / "password").write_text("right\n")
        server = MailServer(
            host="localhost",
            port=port,
            user="jobs",
            password_file=str(tmp_path / "password"),
            sender="jobs@lab.example",
        )
        policy = NoticePolicy(mail=server)
        with pytest.raises(PaddleGpuError):  # nobody vouches for this certificate
            send(policy, "me@x.example", ended(), translator, lambda: None)
        assert not seen
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", str(certificate))
            send(policy, "me@x.example", ended(), translator, lambda: None)
            wrong = NoticePolicy(mail=MailServer(host="localhost", port=port, user="jobs", password="no"))
            # Servers answer a wrong password by 535, or say nothing more after the last way to log in.
            patch.setattr("jupyter_paddle_gpu.notices.sending.CONNECT_SECONDS", 1.0)
            with pytest.raises(PaddleGpuError, match="cannot be told"):
                send(wrong, "me@x.example", ended(), translator, lambda: None)
    finally:
        controller.stop()
    assert len(letters.came) == 1
