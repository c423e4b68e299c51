"""The files of a run folder that Python reads: rows of metrics, also while they are written, and the given recipe."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import _errors


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Returns the whole lines of metrics.jsonl or timing.jsonl; none where the file is missing."""
    return _Tail(path, 0).rows()


def read_given(folder: Path) -> tuple[str, list[str]]:
    """Returns the text of a run's recipe, and the flags that were given over it, from recipe.given.toml.

    The file has them as comments before the first empty line (docs/training.md#the-run-folder).
    """
    path = folder / "recipe.given.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise _errors.UsageError(f"{path}: cannot be read: {error.strerror}; resume takes the folder of a run that has "
                                 "begun") from None
    head, _, recipe = text.partition("\n\n")
    flags = []
    for line in head.splitlines():
        if line.startswith("#   --"):
            name, _, value = line[len("#   ") :].partition(" ")
            flags.append(f"{name}={value}")
    return recipe, flags


class Follower:
    """Gives the rows that a process writes to metrics.jsonl to a callback, each once and in their order.

    A resumed run first cuts the file back to its checkpoint. It then says in timing.jsonl, which only grows, from which
    step it goes on; what metrics.jsonl has beyond the checkpoint's length after that is new.
    """

    def __init__(self, folder: Path, callback: Callable[[dict[str, Any]], Any]) -> None:
        self._folder = folder
        self._callback = callback
        self._lengths = _lengths_at_checkpoints(folder)
        timing = folder / "timing.jsonl"
        self._starts = _Tail(timing, timing.stat().st_size if timing.exists() else 0)
        self._metrics: _Tail | None = None

    def tick(self) -> None:
        if self._metrics is None:
            for row in self._starts.rows():
                if row.get("event") == "start":
                    begin = self._lengths.get(row.get("resumed_from", 0), 0)
                    self._metrics = _Tail(self._folder / "metrics.jsonl", begin)
                    break
        if self._metrics is not None:
            for row in self._metrics.rows():
                self._callback(row)


class _Tail:
    """A file of JSON lines that grows, read on from a position."""

    def __init__(self, path: Path, position: int) -> None:
        self._path = path
        self._position = position

    def rows(self) -> list[dict[str, Any]]:
        """Returns the whole lines since the last call."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._position)
                found = file.read()
        except FileNotFoundError:
            return []
        whole = found[: found.rfind(b"\n") + 1]
        self._position += len(whole)
        return [json.loads(line) for line in whole.splitlines() if line.strip()]


def _lengths_at_checkpoints(folder: Path) -> dict[int, int]:
    """Returns step -> bytes of metrics.jsonl when the checkpoint of that step was saved."""
    lengths = {}
    for path in (folder / "checkpoints").glob("step-*/state.json"):
        try:
            state = json.loads(path.read_text(encoding="utf-8"))["loop"]
            lengths[state["step"]] = state["metrics_bytes"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # the program says what is wrong with a checkpoint that it resumes from
    return lengths
