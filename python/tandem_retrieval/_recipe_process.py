"""Commands that take a recipe, as processes of their own, on rows too."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import _errors
from ._arguments import flag, mapping, optional_text, optional_whole, path, text, word_of_path
from ._program import run
from ._recipe import toml_text, toml_value
from ._rows import check_rows, is_path, write_rows
from ._write_whole import output_error

# What the program calls a recipe that it reads from its standard input.
STDIN = "/dev/stdin"


class RecipeProcess:
    """A command that takes a recipe and writes a folder; errors name rows and dicts as the caller knows them.

    `begun` is a file that the folder has from the command's beginning on. `written` has the files of rows, by the names
    of the arguments that they came by.
    """

    def __init__(self, command: str, folder: Path, begun: str, arguments: list[str], text: str,
                 written: dict[str, str]) -> None:
        self.folder = folder
        self.begun = folder / begun
        self.written = written
        self._arguments = [command, *arguments, f"--output={folder}"]
        self._text = text

    def run(self, tick: Callable[[], None] | None = None) -> str:
        """Runs the command to its end and returns its standard output."""
        try:
            return run(self._arguments, self._text, tick)
        except _errors.Error as error:
            self._rename(error)
            raise

    def _rename(self, error: _errors.Error) -> None:
        text = re.sub(rf"{STDIN}(:\d+)*: ", "recipe: ", str(error))
        if getattr(error, "file", None) == STDIN:  # its lines are not the caller's
            error.file = error.line = error.column = None
        for name, path in self.written.items():
            text = text.replace(path, name)
            if getattr(error, "file", None) == path:
                error.file = name
        error.args = (text,)


def process_flags(threads: Any, precision: Any, device: Any, ignore_limits: Any) -> dict[str, Any]:
    return {"threads": optional_whole(threads, "threads", 0), "precision": optional_text(precision, "precision"),
            "device": optional_text(device, "device"), "ignore_limits": flag(ignore_limits, "ignore_limits")}


def text_and_file(recipe: Any) -> tuple[str, str]:
    """Returns the program's standard input, and the file that it reads the recipe from."""
    return ("", word_of_path(recipe, "recipe")) if is_path(recipe) else (_text_of(recipe), STDIN)


def rows_among(data: Any, validation: Any) -> dict[str, Any]:
    """Returns those of the two that are rows, by name; TypeError for what is neither rows nor a path."""
    given = {name: one for name, one in (("data", data), ("validation", validation)) if one is not None}
    for name, one in given.items():
        check_rows(one, name)
    return {name: one for name, one in given.items() if not is_path(one)}


def _text_of(recipe: Any) -> str:
    if not isinstance(recipe, Mapping):
        raise TypeError(f"recipe is of the type {type(recipe).__name__}; expected a dict, or the path of a TOML file")
    return toml_text(recipe)


def output_of(recipe: Any) -> Path:
    found = recipe.get("output") if isinstance(recipe, Mapping) else _output_of_file(recipe)
    if not found:
        raise _errors.UsageError("there is no run folder to write to: give output=, or output in the recipe")
    return Path(path(found, "output of the recipe"))


def _output_of_file(file: Any) -> Any:
    try:
        with open(path(file, "recipe"), "rb") as opened:
            text = opened.read()
        return _table_of(text).get("output")
    except (OSError, UnicodeDecodeError, _NoTable):
        run(["train", word_of_path(file, "recipe"), "--check"])  # says what is wrong with it
        raise


class _NoTable(Exception):
    """A text that is not TOML."""


def _table_of(text: bytes) -> dict[str, Any]:
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        raise _errors.UsageError("give output=, the run folder: this Python cannot read that of a recipe's file") from None
    try:
        return tomllib.loads(text.decode())
    except tomllib.TOMLDecodeError as error:
        raise _NoTable(str(error)) from None


def settings_of(settings: Any) -> Mapping[str, Any]:
    return {} if settings is None else mapping(settings, "settings", 'a dict as {"train.batch": 32}')


def sets_of(settings: Mapping[str, Any]) -> list[str]:
    return [f"--set={text(key, 'a key of settings')}={toml_value(value, key)}" for key, value in settings.items()]


def data_folder(folder: Path) -> Path:
    return folder.with_name(folder.name + ".data")


def keys_of(data: Any, validation: Any) -> dict[str, Any]:
    return {key: path(given, name) for key, name, given in (
        ("data.train", "data", data), ("validation.data", "validation", validation)) if given is not None}


@contextmanager
def kept_rows(rows: dict[str, Any], process: RecipeProcess) -> Iterator[None]:
    """Writes rows beside the folder. They stay there once the command has begun, and go where it never did."""
    if not rows:
        yield
        return
    if process.begun.exists():
        process.run()  # refuses a folder that is used, before it reads anything
    kept = data_folder(process.folder)
    _make(kept)
    try:
        for name, one in rows.items():
            write_rows(one, Path(process.written[name]), name)
        yield
    finally:
        if not process.begun.exists():
            shutil.rmtree(kept, ignore_errors=True)


def _make(folder: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except FileExistsError:
        if not folder.exists():  # a file is where a folder above it should be
            raise _errors.UsageError(f"{folder}: cannot be made as a folder: a file is in its way") from None
        raise _errors.UsageError(f"{folder}: exists already, and may hold the rows of another run; remove it, or give "
                                 "another output") from None
    except OSError as error:
        raise output_error(folder, error) from None
