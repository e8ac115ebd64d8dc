"""One run of the notebook's process: reads its pipes, answers it, stops it when it must, and says how it ended."""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

from . import channel, ending, event_files, processes, space
from .ranks import Others, of_launch
from .spec import Spec

if TYPE_CHECKING:
    from .records.recorder import Recorder

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
"""What asks a runner to save and end. A second or a third one changes nothing."""
_TICK_SECONDS = 0.2
_READ_BYTES = 1 << 18
_PIPE_BYTES = 1 << 18
"""Room in the pipe of stdout, where the system allows it: a loop of prints must not wait for us."""
_GATHER_SECONDS = 0.01
"""After printed text was taken in, what is printed next may gather so long: a lone line is shown at once, a flood costs
a few writes."""
_SET_PIPE_SIZE = 1031
"""fcntl's F_SETPIPE_SZ on Linux; Python knows the name from 3.10 on."""
_INTERRUPT_AFTER = 0.35
_LOOK_SECONDS = 1.0
"""How often is looked at what the notebook's programs have open: a walk through /proc takes some milliseconds."""
_BESIDE = "beside"
"""Why a process is stopped that trains with one that has failed."""
_KILL_AFTER = 0.7
"""Shares of `stop_seconds` after SIGTERM: SIGINT for code whose handler goes on, then SIGKILL, then time to save."""


class Session:
    """Starts the child and runs it to its end. `run` returns the outcome for `result.json`.

    Args:
        others: the processes that train together with this one, which end with it.
    """

    def __init__(self, spec: Spec, child: List[str], others: Optional[Others] = None) -> None:
        self._spec, self._command = spec, child
        self._others = others or Others()
        self._nonce = os.urandom(8).hex()  # as `secrets` makes it, which imports all of hashlib
        self._receiver = channel.Receiver(self._nonce)
        self._selector = selectors.DefaultSelector()
        self._urgent = selectors.DefaultSelector()  # the same without stdout
        self._started = time.monotonic()
        self._stop_reason: Optional[str] = None
        self._stop_at = 0.0
        self._stop_step = 0
        self._sampled_at = self._looked_at = 0.0
        self._event_files = event_files.OpenFiles()
        self._failure: Optional[Dict[str, Any]] = None
        self._error_reason = ""
        self._full_at = -1e9  # when /dev/shm was seen full last
        self._shared_full = False
        self._facts: Dict[str, Any] = {}
        self._completed = False
        self._pid = 0
        self._answers = -1
        self._fds: Dict[str, int] = {}

    def start(self) -> None:
        """Start the child; it asks before its first cell. Raises `OSError` where it cannot be started."""
        processes.become_subreaper()
        self._wake = self._catch_signals()
        self._oom_before = processes.oom_kills()
        self._spawn()
        self._others.start()
        if self._stop_reason:
            self._others.stop()

    def run(self, recorder: "Recorder") -> Dict[str, Any]:
        """Follow the child that was started and end what it leaves behind."""
        self._recorder = recorder
        status, rss = self._follow(self._wake)
        signal.set_wakeup_fd(-1)
        left = processes.end_descendants(self._spec.limits.leftover_seconds)
        self._drain()
        if left:
            self._recorder.system("{left} processes that the notebook left behind were ended.", left=left)
        oom_after = processes.oom_kills()
        before = self._oom_before
        oom_killed = before is not None and oom_after is not None and oom_after > before
        outcome = dict(self._facts, process_rss_bytes=rss, failure=self._failure)
        outcome.update(self._verdict(status, oom_killed=oom_killed))
        return outcome

    def _verdict(self, status: int, *, oom_killed: bool) -> Dict[str, Any]:
        others = self._others
        if self._completed and self._failure is None and others.failed is None and not others.stopped:
            return {"reason": "succeeded"}
        if others.failed is not None and self._stop_reason in (None, _BESIDE) and not self._failed_itself():
            words = "process %d of the training has ended" % others.failed
            return {"reason": "cancelled", "message": words, "lost": others.failed}
        if self._stop_reason and self._stop_reason != _BESIDE:
            return {"reason": self._stop_reason}
        if self._failure:
            # Nobody asked for an interrupt: the user's code raised it itself.
            reason = "cell_error" if self._error_reason == "interrupted" else self._error_reason
            return {"reason": reason, "message": "%(name)s: %(value)s" % self._failure}
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            reason = ending.of_signal(number, oom_killed=oom_killed, shared_memory_full=self._shared_full)
            return {"reason": reason, "signal": number, "message": ending.signal_name(number)}
        code = os.WEXITSTATUS(status)
        return {"reason": "exited", "status": code, "message": "exit status %d" % code}

    def _failed_itself(self) -> bool:
        return self._failure is not None and self._error_reason != "interrupted"

    # ---- starting

    def _spawn(self) -> None:
        out, err, messages, answers = os.pipe(), os.pipe(), os.pipe(), os.pipe()
        environment = {**os.environ, **self._spec.environment, **of_launch(os.environ)}
        environment["PADDLE_GPU_JOB_ID"] = self._spec.id
        environment["PADDLE_GPU_CHECKPOINTS"] = str(self._spec.checkpoints)
        environment.setdefault("PYTHONUNBUFFERED", "1")  # Python programs that the notebook starts print at once
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        command = [sys.executable, *flags, *self._command, str(messages[1]), str(answers[0]), self._nonce]
        child = subprocess.Popen(
            [*command, str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=out[1],
            stderr=err[1],
            pass_fds=(messages[1], answers[0]),
            cwd=self._spec.folder,
            env=environment,
        )
        child.returncode = 0  # it is waited for here, with everything else that becomes ours
        self._pid = child.pid
        for descriptor in (out[1], err[1], messages[1], answers[0]):
            os.close(descriptor)
        self._answers = answers[1]
        self._fds = {"stderr": err[0], "messages": messages[0], "stdout": out[0]}
        for name, descriptor in self._fds.items():
            os.set_blocking(descriptor, False)
            for selector in [self._selector] if name == "stdout" else [self._selector, self._urgent]:
                selector.register(descriptor, selectors.EVENT_READ, name)
        _widen(out[0])

    def _catch_signals(self) -> int:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for selector in (self._selector, self._urgent):
            selector.register(reader, selectors.EVENT_READ, "wake")
        for number in STOP_SIGNALS:
            signal.signal(number, lambda *_: self.stop("cancelled"))
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        return reader

    # ---- following

    def _follow(self, wake: int) -> "tuple[int, int]":
        gathering = False
        own: Optional[Tuple[int, int]] = None
        while True:
            selector, seconds = (self._urgent, _GATHER_SECONDS) if gathering else (self._selector, _TICK_SECONDS)
            awake = {key.data for key, _ in selector.select(seconds)}
            if "wake" in awake:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake, 512)
            ended = processes.reap()
            self._others.ended(ended)
            gathering = self._pump(errors_first="stderr" in awake and "stdout" not in awake and not gathering)
            self._recorder.tick()
            if not self._recorder.flush():
                self._wait_for_space()
            if own is None and self._pid in ended:
                self._look_at_shared_memory()
                self._shared_full = time.monotonic() - self._full_at < 2 * _TICK_SECONDS
                own, self._pid = ended[self._pid], 0
                if own[0] and self._others.running:
                    self.stop(_BESIDE)
            if own is not None and not self._others.running:
                return own
            if self._others.end_all:
                self.stop(_BESIDE)
            self._check_limits()
            self._push_stop()

    def _pump(self, *, errors_first: bool) -> bool:
        """Take in what has come; True where something was printed to stdout.

        What native code prints to stderr comes before the error that follows it, and where it is what woke us, before
        what was printed since.
        """
        errors = self._read_bytes("stderr")
        # The printed bytes are read before the messages: a mark that is seen then has its message in the pipe already.
        printed = self._read_bytes("stdout")
        self._read_messages()
        if printed:
            self._receiver.take_printed(printed)
        items = self._receiver.ready()
        first = 0
        while not errors_first and first < len(items) and not isinstance(items[first], dict):
            first += 1
        self._handle_items(items[:first])
        if errors:
            self._recorder.printed("stderr", errors)
        self._handle_items(items[first:])
        return bool(printed)

    def _handle_items(self, items: List[Union[channel.Printed, Dict[str, Any]]]) -> None:
        for item in items:
            if isinstance(item, dict):
                self._handle(item)
            else:
                self._recorder.printed(*item)

    def _read_errors(self) -> None:
        if data := self._read_bytes("stderr"):
            self._recorder.printed("stderr", data)

    def _read_messages(self) -> None:
        while data := self._read_bytes("messages"):
            self._receiver.take_messages(data)

    def _read_bytes(self, name: str) -> bytes:
        descriptor = self._fds.get(name)
        if descriptor is None:
            return b""
        try:
            data = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return b""
        if not data:
            self._selector.unregister(descriptor)
            if name != "stdout":
                self._urgent.unregister(descriptor)
            os.close(descriptor)
            del self._fds[name]
        return data

    def _drain(self) -> None:
        """After the end of all processes: the rest of the pipes."""
        while self._fds:
            before = dict(self._fds)
            size = sum(self._drain_one(name) for name in list(before))
            if not size and before == self._fds:
                break
        self._receiver.take_printed(b"", last=True)
        self._handle_items(self._receiver.ready())

    def _drain_one(self, name: str) -> int:
        data = self._read_bytes(name)
        if name == "stdout":
            self._receiver.take_printed(data)
        elif name == "stderr":
            self._recorder.printed("stderr", data)
        else:
            self._receiver.take_messages(data)
        self._handle_items(self._receiver.ready())
        return len(data)

    def _handle(self, message: Dict[str, Any]) -> None:
        kind = message["kind"]
        if kind == "hello":
            self._recorder.system("Python {version}, {shell}, in {folder}", **message["fields"])
            for name in message.get("settings") or ():
                self._recorder.system("{file} is read from the job's own copy.", file=name)
            for name in message.get("answered") or ():
                self._recorder.system("{file} is not there: the job reads what was answered of it.", file=name)
        elif kind == "cell":
            self._read_errors()
            self._recorder.start_cell(message["index"], message["count"])
            self._answer(b"s" if self._stop_reason else b"g")
        elif kind == "end":
            self._read_errors()
            self._failure = message.get("failure")
            if self._failure:
                self._failure["at"] = time.time()  # of several processes the first one's is the cause
            if self._failure:  # judged while the process lives: what it fills goes with it
                places = (self._spec.checkpoints, Path(self._spec.folder))
                self._error_reason = ending.of_error(self._failure, places, self._spec.device_memory_words)
            self._facts.update(message.get("facts") or {})
            self._recorder.end_cell(message["index"], message["ok"])
        elif kind == "bye":
            self._facts.update(message.get("facts") or {})
            self._completed = bool(message["completed"])
        else:
            if message["kind"] == "event_files":
                self._event_files.told(message["viewer"], message["folder"])
            self._recorder.message(message)

    def _answer(self, letter: bytes) -> None:
        with contextlib.suppress(OSError):  # the child is gone; its end is noticed on its own
            os.write(self._answers, letter)

    # ---- stopping

    def stop(self, reason: str) -> None:
        """Ask the child to end (SIGTERM: the user's handler runs, else the code sees KeyboardInterrupt)."""
        if self._stop_reason is None:
            self._stop_reason, self._stop_at = reason, time.monotonic()
            self._signal_child(signal.SIGTERM)
            self._others.stop()

    def _signal_child(self, number: int) -> None:
        if not self._pid:  # not started yet: it will be told at its first cell; or ended
            return
        with contextlib.suppress(OSError):
            os.kill(self._pid, number)

    def _kill_child(self) -> None:
        if self._pid:
            processes.kill(self._pid)

    def _push_stop(self) -> None:
        if self._stop_reason is None:
            return
        waited = (time.monotonic() - self._stop_at) / self._spec.stop_seconds
        if self._stop_step == 0 and waited > _INTERRUPT_AFTER:
            self._stop_step = 1
            self._signal_child(signal.SIGINT)
        elif self._stop_step == 1 and waited > _KILL_AFTER:
            self._stop_step = 2
            self._kill_child()
        elif self._stop_step == 2 and waited > 1:  # their own supervisors have done as much
            self._stop_step = 3
            self._others.kill()

    def _check_limits(self) -> None:
        now, limits = time.monotonic(), self._spec.limits
        self._look_at_shared_memory()
        self._look_at_programs()
        if self._spec.seconds and now - self._started > self._spec.seconds:
            self.stop("time_limit")
        if self._spec.memory_bytes and now - self._sampled_at > limits.sample_seconds:
            self._sampled_at = now
            root = os.getpid() if self._others.running else self._pid
            if root and processes.resident_bytes(root, self._spec.memory_bytes) > self._spec.memory_bytes:
                # No time to ask: the machine is what the limit protects.
                self._stop_reason = self._stop_reason or "out_of_memory_host"
                self._stop_at, self._stop_step = now, 3
                self._kill_child()
                self._others.kill()

    def _look_at_programs(self) -> None:
        """Whether a program that the notebook has started writes curves for a viewer."""
        now = time.monotonic()
        if self._pid and now - self._looked_at > _LOOK_SECONDS:
            self._looked_at = now
            for found in self._event_files.look(processes.descendants(self._pid)):
                self._recorder.message(found)

    def _look_at_shared_memory(self) -> None:
        """What a process had there may be gone a moment after its end."""
        if space.is_full(space.SHARED_MEMORY):
            self._full_at = time.monotonic()

    def _wait_for_space(self) -> None:
        """The disk is full: the notebook is held up by its full pipes, and nothing is lost, until there is space."""
        since = time.monotonic()
        while not self._recorder.flush():
            if self._stop_reason:
                return
            if time.monotonic() - since > self._spec.limits.disk_patience_seconds:
                self.stop("disk_full")
                return
            self._check_limits()
            time.sleep(min(1.0, self._spec.limits.disk_patience_seconds / 4))


def _widen(descriptor: int) -> None:
    if sys.platform.startswith("linux"):
        import fcntl

        with contextlib.suppress(OSError):  # somebody's pipes are many already
            fcntl.fcntl(descriptor, _SET_PIPE_SIZE, _PIPE_BYTES)
