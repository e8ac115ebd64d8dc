"""What a policy file says of notices: who can be told, how, and by which server mail goes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from ..domain.errors import PaddleGpuError

Kind = Literal["json", "feishu", "dingtalk", "wecom", "slack", "mail"]
End = Literal["succeeded", "failed", "cancelled"]
SECRET_FIELDS = frozenset({"url", "secret", "password"})
"""Fields whose values nobody is shown: the address of a chat's robot holds its key."""


class Receiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Somebody who can be told.

    Attributes:
        kind: `json`: to a program of one's own; the others are robots of chats in their makers' forms; `mail`.
        url, url_file: the webhook's address, or the file that holds it.
        secret, secret_file: with what it is signed (`json`, `feishu`, `dingtalk`), or the file that holds that.
        to: mail addresses.
        when: the ends that are told.
        language: of what is told.
    """

    kind: Kind = "json"
    url: str = ""
    url_file: str = ""
    secret: str = ""
    secret_file: str = ""
    to: tuple[str, ...] = ()
    when: tuple[End, ...] = ("succeeded", "failed")
    language: Literal["en", "zh_CN"] = "en"


class MailServer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The place's server for mail that goes out.

    Attributes:
        security: `starttls`, `tls` from the first byte, or `none` for a server within the house.
        user, password, password_file: where it wants to know who sends; a password never goes over an open line.
        sender: the address that mail comes from.
    """

    host: str
    port: Annotated[int, msgspec.Meta(ge=1, le=65535)] = 587
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str = ""
    password: str = ""
    password_file: str = ""
    sender: str = ""


class NoticePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy file says of notices.

    Attributes:
        receivers: by the names that people choose.
        usual: who is told of a job where nothing else is asked for: names of receivers or mail addresses.
        mail: the server for mail; without it none is sent.
    """

    receivers: dict[str, Receiver] = {}
    usual: tuple[str, ...] = ()
    mail: MailServer | None = None

    def check(self, names: tuple[str, ...]) -> None:
        """Raise `PaddleGpuError` (`receiver_unknown`, 400) where one of these cannot be told."""
        for name in names:
            self.receiver(name)

    def receiver(self, name: str) -> Receiver:
        """The receiver of a name, or of a mail address. Raises `PaddleGpuError` (`receiver_unknown`, 400)."""
        found = self.receivers.get(name)
        if found is None and "@" in name and self.mail is not None:
            found = Receiver(kind="mail", to=(name,))
        if found is None:
            raise PaddleGpuError(
                "receiver_unknown",
                "Nobody is called “{name}” who could be told of a job.",
                hint="The section `notices` of paddle-gpu.yaml names receivers; a mail address needs its `mail`.",
                name=name[:100],
            )
        return found


def secret_of(value: str, file: str) -> str:
    """What a field says, or the file that it names. Raises `OSError`, `UnicodeDecodeError`."""
    return Path(file).expanduser().read_text(encoding="utf-8").strip() if file else value


def wrong(policy: NoticePolicy) -> tuple[str, str] | None:
    """The first field that cannot be so, and why; None where all can."""
    for name, one in policy.receivers.items():
        if (found := _wrong_receiver(name, one, policy.mail)) is not None:
            return found
    server = policy.mail
    for name in policy.usual:
        if name not in policy.receivers and not ("@" in name and server is not None):
            return "usual", f"“{name}” is no receiver"
    if server is not None and server.security == "none" and (server.password or server.password_file):
        return "mail.security", "a password is not sent over an open line"
    return None


def _wrong_receiver(name: str, one: Receiver, server: MailServer | None) -> tuple[str, str] | None:
    where = f"receivers.{name}"
    if one.kind == "mail":
        if not one.to or any("@" not in address for address in one.to):
            return f"{where}.to", "it must name mail addresses"
        return ("mail", f"“{name}” is told by mail, and no server for it is named") if server is None else None
    if bool(one.url) == bool(one.url_file):
        return f"{where}.url", "it must have either `url` or `url_file`"
    if one.url and not one.url.startswith(("https://", "http://")):
        return f"{where}.url", "it must begin with https:// or http://"
    return None


def masked(value: Any) -> Any:
    """The same with what is secret replaced, for people to see."""
    if isinstance(value, dict):
        return {key: "…" if key in SECRET_FIELDS and item else masked(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked(item) for item in value]
    return value
