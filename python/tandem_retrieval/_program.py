"""The program `tandem` as a child process: its results, its messages as records of the logger, its errors as exceptions.

What trains, or writes files, runs so: it then has its own threads, memory and libraries (a libtorch of its own for
GPUs), and whatever happens to it leaves the interpreter whole.
"""

from __future__ import annotations

import json
import logging
import os
import selectors
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import _errors
from ._arguments import text as checked_text

LOGGER = logging.getLogger("tandem_retrieval")
LEVELS = {"note": logging.INFO, "warning": logging.WARNING, "progress": logging.DEBUG}
FACTS = ("exit_code", "file", "line", "column", "key", "id", "tensor", "errno")
# How often what the program writes into files is looked at while it runs.
TICK_SECONDS = 0.1


def program() -> str:
    """Returns the path of the program: TANDEM_PROGRAM, else that of the package."""
    asked = os.environ.get("TANDEM_PROGRAM")
    if asked:
        return asked
    path = Path(__file__).parent / "bin" / "tandem"
    if not path.exists():
        raise _errors.Error(f"{path} is missing: install the package tandem-retrieval again, or say in "
                            "TANDEM_PROGRAM where the program is")
    return str(path)


def flags_of(options: dict[str, Any]) -> list[str]:
    """Returns flags of keyword arguments: `max_query_tokens=64` is `--max-query-tokens=64`, `random=True` `--random`.

    None and False are left out, lists are joined by commas, and names that Python keeps for itself end in `_`.
    """
    flags = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            flags.append(flag)
        elif isinstance(value, (list, tuple)):
            flags.append(checked_text(f"{flag}={','.join(str(one) for one in value)}", name))
        elif isinstance(value, (bytes, dict, set)):
            raise TypeError(f"{name} is of the type {type(value).__name__}; expected str, a number, a bool or a list")
        else:
            flags.append(checked_text(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}", name))
    return flags


def run_json(arguments: Sequence[str]) -> Any:
    """Runs a command that prints JSON and returns that."""
    return json.loads(run([*arguments, "--format=json"]))


def run(arguments: Sequence[str], text: str = "", tick: Callable[[], None] | None = None) -> str:
    """Runs the program to its end and returns its standard output.

    Args:
        arguments: a command and its flags.
        text: its standard input.
        tick: is called ten times a second while it runs, and once after its end.

    Raises:
        Error: that of the program, with its words and facts.
        KeyboardInterrupt: after Ctrl-C, once the program has saved what it saves; a second one ends it at once.
        Whatever `tick` raises, once the program has been stopped in the same way.
    """
    with tempfile.TemporaryFile() as stdin:
        stdin.write(text.encode())
        stdin.seek(0)
        child = _Child(arguments, stdin)
    try:
        child.read(tick)
    except BaseException as stopped:
        child.stop()
        words = child.interrupted()
        if isinstance(stopped, KeyboardInterrupt) and words:
            raise KeyboardInterrupt(words) from None
        raise
    child.check()
    if tick is not None:
        tick()
    return child.out.decode()


class _Child:
    """The running program and what it has written so far."""

    def __init__(self, arguments: Sequence[str], stdin: Any) -> None:
        self.name = "tandem " + arguments[0]
        self.out = bytearray()
        self._line = bytearray()  # of standard error, without its end so far
        self._error: dict[str, Any] | None = None
        self._other: list[str] = []  # lines that are no messages of Tandem
        # In a session of its own it gets no Ctrl-C from the terminal, which would be a second signal beside the one
        # that it is sent, and end it at once.
        path = program()
        try:
            self._process = subprocess.Popen(
                [path, *arguments], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={**os.environ, "TANDEM_MESSAGES": "json"}, start_new_session=True,
            )
        except OSError as error:
            raise _errors.Error(f"{path}: cannot be started: {error.strerror}; TANDEM_PROGRAM says where the program "
                                "is") from None

    def read(self, tick: Callable[[], None] | None) -> None:
        """Reads until the program has ended."""
        with selectors.DefaultSelector() as selector:
            for pipe, take in ((self._process.stdout, self.out.extend), (self._process.stderr, self._take)):
                if pipe is not None and not pipe.closed:
                    selector.register(pipe, selectors.EVENT_READ, take)
            while selector.get_map():
                for key, _ in selector.select(TICK_SECONDS):
                    found = os.read(key.fd, 1 << 16)
                    if found:
                        key.data(found)
                    else:
                        selector.unregister(key.fileobj)
                        key.fileobj.close()
                if tick is not None:
                    tick()
        self._process.wait()

    def stop(self) -> None:
        """Lets the program save what it saves, and waits for that.

        It is sent SIGTERM, which does the same as SIGINT: shells let background jobs ignore the latter.
        """
        self._process.terminate()
        try:
            self.read(None)
        except BaseException:  # asked again
            self._process.terminate()
            self.read(None)

    def interrupted(self) -> str | None:
        """Returns what the program said when it was stopped."""
        if self._error is None or self._error["class"] != "Interrupted":
            return None
        return _errors.in_words_of_python(self._error["text"])

    def check(self) -> None:
        """Raises the program's error where it had one."""
        code = self._process.returncode
        if code == 0:
            return
        if self._error is not None and self._error["exit_code"] == code:
            raise exception_of(self._error)
        said = "\n".join(["", *self._other[-5:]])
        if code < 0:
            why = " (the system may have had too little memory)" if -code == signal.SIGKILL else ""
            words = f"{self.name} was ended by {signal.Signals(-code).name}{why}{said}"
            error = _errors.Error(words)
            error.exit_code = 128 - code
            raise error
        error = _errors.Error(f"{self.name} ended with {code} and gave no reason{said}")
        error.exit_code = code
        raise error

    def _take(self, found: bytes) -> None:
        self._line += found
        *lines, self._line = self._line.split(b"\n")
        for line in lines:
            self._take_line(line.decode("utf-8", "replace"))

    def _take_line(self, line: str) -> None:
        try:
            message = json.loads(line)
            kind, text = message["message"], message["text"]
        except (ValueError, TypeError, KeyError):
            self._other.append(line)
            LOGGER.warning("%s", line)
            return
        if kind == "error":
            self._error = message
        else:
            LOGGER.log(LEVELS.get(kind, logging.INFO), "%s", _errors.in_words_of_python(text))


def exception_of(message: dict[str, Any]) -> BaseException:
    """Returns the exception of an error that the program has written."""
    text = _errors.in_words_of_python(message["text"])
    if message["class"] == "Interrupted":
        return KeyboardInterrupt(text)
    error = getattr(_errors, message["class"])(text)
    for fact in FACTS:
        if fact in message:
            setattr(error, fact, message[fact])
    return error
