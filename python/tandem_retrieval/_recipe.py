"""Recipes as dicts: the TOML that the program reads."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from ._errors import UsageError

_BARE = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


def toml_value(value: Any, key: str) -> str:
    """Returns a value as TOML spells it; TypeError for what TOML lacks, with the key."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if hasattr(value, "tolist") and type(value).__module__ == "numpy":
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value, key)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(one, key) for one in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name, key)} = {toml_value(one, f'{key}.{name}')}"
                               for name, one in value.items()) + "}"
    hint = "; leave the key out" if value is None else ""
    raise TypeError(f"recipe: {key} is of the type {type(value).__name__}, which a recipe has no place for{hint}")


def toml_text(recipe: Mapping[str, Any]) -> str:
    """Returns a recipe as TOML.

    Tables are dicts, lists of tables lists of dicts, and a key may name a path: `{"train.steps": 100}`.
    """
    return "".join(line + "\n" for line in _lines(recipe, ""))


def _lines(table: Mapping[str, Any], path: str) -> list[str]:
    values, tables = [], []
    for name, value in table.items():
        key = _key(name, path)
        full = f"{path}.{key}" if path else key
        if isinstance(value, Mapping):
            tables += [f"[{full}]", *_lines(value, full)]
        elif _is_list_of_tables(value):
            for one in value:
                tables += [f"[[{full}]]", *_lines(one, full)]
        else:
            values.append(f"{key} = {toml_value(value, full)}")
    return values + tables


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(one, Mapping) for one in value)


def _key(name: Any, path: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"recipe: {path or 'it'} has the key {name!r}, of the type {type(name).__name__}; expected str")
    return name if _BARE.fullmatch(name) else _text(name, path)


def _text(text: str, key: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"recipe: {key} has a text with a lone surrogate, which is no character") from None
    # TOML's strings are JSON's, but for the one control character that JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
