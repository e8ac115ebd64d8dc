"""Hands one notice over: by HTTP or by mail. What is secret is in no sentence that leaves here."""

from __future__ import annotations

import io
import smtplib
import ssl
import time
from collections.abc import Callable
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from ..domain.errors import PaddleGpuError
from ..domain.jobs.job import Job
from ..domain.messages import Translate
from ..domain.plans.sweeps import SweepReport
from . import words
from .forms import FORMS, Said, refusal
from .settings import MailServer, NoticePolicy, Receiver, secret_of

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 20.0
"""Longer than any robot takes; nobody waits for it."""

Started = Callable[[], None]
"""Called at the moment from which it may have arrived."""


def send(
    policy: NoticePolicy,
    name: str,
    job: Job,
    translator: Callable[[str], Translate],
    started: Started,
    *,
    sweep: SweepReport | None = None,
) -> None:
    """Tell a receiver of a job's end.

    Args:
        sweep: of which the job was the last trial: then its end is told, and not the job's.

    Raises:
        PaddleGpuError: `notice_refused`, `notice_unreachable`, or that there is no such receiver.
    """
    receiver = policy.receiver(name)
    translate = translator(receiver.language)
    said = Said(
        words.title(sweep or job, translate),
        words.lines(sweep or job, translate),
        words.data(sweep or job, translate),
        f"{job.id}/{name}",
    )
    try:
        if receiver.kind == "mail":
            assert policy.mail is not None
            _mail(policy.mail, receiver, said, started)
        else:
            _post(receiver, said, started)
    except (smtplib.SMTPException, OSError, UnicodeError, ValueError) as error:
        # Not the error's own words: those of an HTTP library quote the address, which holds a key.
        raise PaddleGpuError(
            "notice_unreachable",
            "“{name}” cannot be told: {why}.",
            hint="Look at its address and file in the section `notices` of paddle-gpu.yaml, and at the network.",
            name=name,
            why=_why(error),
        ) from None


class _Body(io.BytesIO):
    """Tells when it is read, which is once a connection is made."""

    def __init__(self, data: bytes, started: Started) -> None:
        super().__init__(data)
        self._started: Started | None = started

    def read(self, size: int | None = -1, /) -> bytes:
        if self._started is not None:
            started, self._started = self._started, None
            started()
        return super().read(size)


def _post(receiver: Receiver, said: Said, started: Started) -> None:
    import requests

    url, secret = secret_of(receiver.url, receiver.url_file), secret_of(receiver.secret, receiver.secret_file)
    post = FORMS[receiver.kind](url, secret, said, time.time())
    answer = requests.post(
        post.url,
        data=_Body(post.body, started),
        headers=post.headers,
        timeout=(CONNECT_SECONDS, ANSWER_SECONDS),
        allow_redirects=False,  # what is said is for this address alone
    )
    against = f"HTTP {answer.status_code}" if not 200 <= answer.status_code < 300 else ""
    against = against or refusal(receiver.kind, answer.content)
    if against:
        raise PaddleGpuError(
            "notice_refused",
            "“{name}” refused the notice: {answer}.",
            hint="Look at its kind, address and secret in the section `notices` of paddle-gpu.yaml.",
            name=said.key.partition("/")[2],
            answer=against[:200],
        )


def _mail(server: MailServer, receiver: Receiver, said: Said, started: Started) -> None:
    message = EmailMessage()
    message["Subject"] = " ".join(said.title.split())
    message["From"] = server.sender or server.user
    message["To"] = ", ".join(receiver.to)
    message["Date"] = formatdate(localtime=True)
    message["Message-ID"] = make_msgid(idstring=said.key.replace("/", ".").replace("@", "."))
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("\n".join(said.lines) + "\n")
    context = ssl.create_default_context()
    if server.security == "tls":
        connection: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=CONNECT_SECONDS, context=context)
    else:
        connection = smtplib.SMTP(server.host, server.port, timeout=CONNECT_SECONDS)
    with connection:
        if server.security == "starttls":
            connection.starttls(context=context)
        if server.user:
            connection.login(server.user, secret_of(server.password, server.password_file))
        started()
        connection.send_message(message)


def _why(error: Exception) -> str:
    """An error without an address in it."""
    if isinstance(error, smtplib.SMTPResponseException):
        text = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else ""
        return f"{type(error).__name__} {error.smtp_code} {text}".strip()[:200]
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__


def is_final(error: PaddleGpuError) -> bool:
    """Whether another attempt would only be refused again."""
    params = error.message.params
    answer = str(params.get("answer", ""))
    busy = answer.startswith(("HTTP 5", "HTTP 429", "HTTP 408"))
    return error.code == "receiver_unknown" or (error.code == "notice_refused" and not busy)
