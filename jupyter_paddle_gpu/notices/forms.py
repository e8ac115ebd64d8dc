"""The bodies that webhooks take, with their signatures, a function a maker.

Sources: the makers' own pages on custom robots.
Feishu: open.feishu.cn, "Use bots in groups"; the key of its signature is `timestamp + newline + secret`, of no text.
DingTalk: open.dingtalk.com, "Custom robot access"; the same string is signed with the secret, time in milliseconds.
WeCom: developer.work.weixin.qq.com, "Group robot"; Slack: api.slack.com, "Incoming webhooks"; neither signs.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote_plus

SIGNATURE_HEADER = "X-Paddle-GPU-Signature"
KEY_HEADER = "Idempotency-Key"


class Said(NamedTuple):
    """What is to be told: title, lines, the same for programs, and a key that stays the same however often it comes."""

    title: str
    lines: list[str]
    data: dict[str, Any]
    key: str

    @property
    def text(self) -> str:
        """All of it as plain text."""
        return "\n".join([self.title, *self.lines])


class Post(NamedTuple):
    """A request: where to, what, with which headers."""

    url: str
    body: bytes
    headers: dict[str, str]


def _post(url: str, body: Any, **headers: str) -> Post:
    data = json.dumps(body, ensure_ascii=False).encode()
    return Post(url, data, {"Content-Type": "application/json; charset=utf-8", **headers})


def _hmac(key: str, text: str) -> bytes:
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).digest()


def generic(url: str, secret: str, said: Said, now: float) -> Post:
    """JSON for a program of one's own; signed over the body, as GitHub's webhooks are."""
    post = _post(url, said.data)
    post.headers[KEY_HEADER] = said.key
    if secret:
        post.headers[SIGNATURE_HEADER] = "sha256=" + hmac.new(secret.encode(), post.body, hashlib.sha256).hexdigest()
    return post


def feishu(url: str, secret: str, said: Said, now: float) -> Post:
    """Feishu and Lark."""
    body: dict[str, Any] = {"msg_type": "text", "content": {"text": said.text}}
    if secret:
        stamp = str(int(now))
        signed = base64.b64encode(_hmac(f"{stamp}\n{secret}", "")).decode()
        body = {"timestamp": stamp, "sign": signed, **body}
    return _post(url, body)


def dingtalk(url: str, secret: str, said: Said, now: float) -> Post:
    """DingTalk."""
    if secret:
        stamp = str(round(1000 * now))
        signed = quote_plus(base64.b64encode(_hmac(secret, f"{stamp}\n{secret}")))
        url += ("&" if "?" in url else "?") + f"timestamp={stamp}&sign={signed}"
    return _post(url, {"msgtype": "text", "text": {"content": said.text}})


def wecom(url: str, secret: str, said: Said, now: float) -> Post:
    """WeCom."""
    return _post(url, {"msgtype": "text", "text": {"content": said.text}})


def slack(url: str, secret: str, said: Said, now: float) -> Post:
    """Slack, and what speaks its form (Mattermost, Rocket.Chat). Three characters are its markup's."""
    text = said.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _post(url, {"text": text})


FORMS: Mapping[str, Callable[[str, str, Said, float], Post]] = {
    "json": generic,
    "feishu": feishu,
    "dingtalk": dingtalk,
    "wecom": wecom,
    "slack": slack,
}
"""Kind of receiver -> its request, of its address, its secret, what is said, and the time (s since the epoch)."""


def refusal(kind: str, body: bytes) -> str:
    """What a robot says against a message although it answers with 200; empty: it took it."""
    if kind not in ("feishu", "dingtalk", "wecom"):
        return ""
    try:
        answer = json.loads(body)
        code = answer.get("code", answer.get("StatusCode", answer.get("errcode", 0)))
        said = answer.get("msg") or answer.get("errmsg") or ""
    except (ValueError, AttributeError):
        return ""
    return "" if code == 0 else f"{code} {said}".strip()
