"""Exceptions with the words and facts of the program's errors."""

from __future__ import annotations

import builtins


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
