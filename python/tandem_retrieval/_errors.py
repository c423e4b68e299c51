"""Exceptions with the words and facts of the program's errors."""

from __future__ import annotations

import builtins
import re


class Error(Exception):
    """Base of every error of Tandem.

    `exit_code` is the code that the program `tandem` ends with for this error. Facts that are not known are None.
    """

    exit_code: int = 1


class UsageError(Error, ValueError):
    """A wrong argument or combination of them."""

    exit_code = 2


class RecipeError(Error):
    """A mistake in a recipe, at `line` and `column` (from 1) of `file`, in the value of `key`."""

    exit_code = 2
    file: str | None = None
    line: int | None = None
    column: int | None = None
    key: str | None = None


class DataError(Error):
    """A mistake in data: in `line` (from 1) of `file`, of the text or query with `id`."""

    exit_code = 3
    file: str | None = None
    line: int | None = None
    id: str | None = None


class ModelError(Error):
    """A mistake in a model folder or in a `tensor` of `file`."""

    exit_code = 4
    file: str | None = None
    tensor: str | None = None


class NumericError(Error, ArithmeticError):
    """A loss, gradient, score or grade that is not finite."""

    exit_code = 5


class CheckFailed(Error):
    """A check that was asked for did not hold."""

    exit_code = 6


class PeerLost(Error):
    """Another process of the same job is gone."""

    exit_code = 7


class MemoryError(Error, builtins.MemoryError):  # noqa: A001 - the program's name for it
    """Memory that the machine does not give."""

    exit_code = 2


class OutputError(Error, OSError):
    """A file or folder, `file`, that cannot be written."""

    exit_code = 2
    file: str | None = None


# Flags whose arguments have another name in Python, switches, and words that are values of a flag before them.
_ARGUMENTS = {"with-model": "copy_model", "dataset": "data", "pairs": "data", "as": "kind", "field": "fields",
              "set": "settings", "top-k": "k", "from": "from_"}
_SWITCHES = frozenset({
    "by-document", "complete", "copy-model", "dry-run", "force", "ignore-identical-ids", "ignore-limits",
    "ignore-missing", "no-cache", "random", "replace", "update", "with-model",
})
_CHOICES = {"as": "grades|teacher", "method": "platt|isotonic|objective", "scores": "grades|ignored|teacher",
            "precision": "auto|fp32|bf16|int8", "search-precision": "fp32|bf16|int8"}
_VERBS = frozenset({"is", "are", "needs", "excludes", "takes", "names", "begins"})
_COMMAND = re.compile(r"`?\btandem [a-z]+ [^`;,:()]*")
_FLAG = re.compile(r"(?<![^\s(`\[])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?:(?P<sign>[ =])(?P<value>[0-9A-Z][^\s;,()]*|[a-z0-9]+))?")


def in_words_of_python(text: str) -> str:
    """Returns an error's text with arguments of Python in place of flags: `replace=True` for `--replace`.

    Command lines that begin with `tandem` stay: the program is on the PATH.
    """
    parts, at = [], 0
    for command in _COMMAND.finditer(text):
        parts += [_without_flags(text[at : command.start()]), command.group()]
        at = command.end()
    return "".join([*parts, _without_flags(text[at:])])


def _without_flags(text: str) -> str:
    return _FLAG.sub(_argument, text.replace("unknown flag ", "unknown argument ")) if "--" in text else text


def _argument(found: re.Match) -> str:
    flag, sign, value = found[1], found["sign"] or "", found["value"] or ""
    if flag == "resume":
        return "tandem_retrieval.resume(folder)" + sign + value
    name = _ARGUMENTS.get(flag, flag.replace("-", "_"))
    if found.string[: found.start()].endswith(("unknown argument ", "did you mean ")):
        return f"{name}{sign}{value}"
    if flag in _SWITCHES:
        return f"{name}=True{sign}{value}"
    is_value = sign == "=" or value[:1].isdigit() or value[:1].isupper()
    if is_value or value and re.fullmatch(_CHOICES.get(flag, "(?!)"), value):
        end = value[len(value.rstrip(".:")) :]
        given = value.rstrip(".:")
        return f"{name}={given if re.fullmatch(r'[0-9.e-]+|[A-Z]+', given) else repr(given)}{end}"
    return f"{name}{'' if value in _VERBS else '='}{sign}{value}"
