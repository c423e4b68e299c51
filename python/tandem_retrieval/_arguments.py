"""Arguments of calls, checked where they come in: an error names the argument, what was expected and what was found."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ._errors import NumericError, UsageError

_LONGEST = 60  # characters of a value that an error quotes


def shown(value: Any) -> str:
    """The value as Python writes it, cut where it is long."""
    if isinstance(value, int) and value.bit_length() > 256:  # Python refuses to write those of many digits
        return f"a number of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def wrong_type(value: Any, name: str, expected: str) -> NoReturn:
    raise TypeError(f"{name} is of the type {type(value).__name__}; expected {expected}")


def text(value: Any, name: str) -> str:
    """Returns a str that file names and the program's arguments can have: in UTF-8, without zero bytes."""
    if not isinstance(value, str):
        wrong_type(value, name, "str")
    if "\0" in value:
        raise UsageError(f"{name} is {shown(value)}, which has a zero byte")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{name} is {shown(value)}, which has half of a surrogate pair, and that is no character of "
                             "UTF-8") from None
    return value


def optional_text(value: Any, name: str) -> str | None:
    return None if value is None else text(value, name)


def path(value: Any, name: str) -> str:
    """Returns the path that a str or a PathLike is."""
    if not isinstance(value, (str, os.PathLike)):
        wrong_type(value, name, "str or a path")
    if not isinstance(found := os.fspath(value), str):
        raise TypeError(f"{name} is a path of {type(found).__name__}; expected one of str")
    text(found, name)
    if not found:
        raise UsageError(f"{name} is empty; expected a path")
    return found


def word_of_path(value: Any, name: str) -> str:
    """Returns a path as a word of the program's command line, where one with a hyphen first would be a flag."""
    found = path(value, name)
    return "./" + found if found.startswith("-") else found


def whole(value: Any, name: str, least: int, most: int = 2**63 - 1) -> int:
    """Returns a whole number from `least` to `most`; a bool is none."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        wrong_type(value, name, f"a whole number of {least} or more")
    if not least <= value <= most:
        upper = f"from {least} to {most}" if value > most else f"of {least} or more"
        raise UsageError(f"{name} is {shown(value)}; expected a whole number {upper}")
    return int(value)


def optional_whole(value: Any, name: str, least: int, most: int = 2**63 - 1) -> int | None:
    return None if value is None else whole(value, name, least, most)


def number(value: Any, name: str, least: float = -math.inf, most: float = math.inf) -> float:
    """Returns a number from `least` to `most`, which NaN is not."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        wrong_type(value, name, "a number")
    try:
        found = float(value)
    except OverflowError:
        raise NumericError(f"{name} is {shown(value)}, larger than numbers of double precision are") from None
    if not least <= found <= most:
        within = "a number" if math.isinf(least) and math.isinf(most) else f"a number from {least:g} to {most:g}"
        raise UsageError(f"{name} is {found:g}; expected {within}")
    return found


def optional_number(value: Any, name: str, least: float = -math.inf, most: float = math.inf) -> float | None:
    return None if value is None else number(value, name, least, most)


def flag(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        wrong_type(value, name, "True or False")
    return bool(value)


def mapping(value: Any, name: str, expected: str) -> Mapping:
    if not isinstance(value, Mapping):
        wrong_type(value, name, expected)
    return value


def array(values: Any, name: str) -> np.ndarray:
    """Returns numpy.asarray of values, but refuses what that would lose or explain badly."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be lost; give its rows without masked ones, or "
                        f"{name}.filled(...)")
    try:
        return np.asarray(values)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise UsageError(f"{name} has rows of different lengths; expected as many numbers in each") from None
