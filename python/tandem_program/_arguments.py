"""Which arguments of the program are tables that it does not read. Nothing here needs more than Python."""

from __future__ import annotations

import glob
import os
from typing import NamedTuple

ENDINGS = (".parquet", ".arrow")
# What a flag names that is written, or looked at and not read.
_OUTPUTS = frozenset({"--output", "-o"})


class Value(NamedTuple):
    """A value among the arguments: arguments[index] is `before` + `text`."""

    index: int
    before: str
    text: str
    flag: str  # that it belongs to; "" for positional ones


def values_of(arguments: list[str]) -> list[Value]:
    """The values of arguments: each that is no flag, what stands after `=` in --flag=value, and KEY's in --set."""
    found = []
    flag = ""
    for index, argument in enumerate(arguments):
        if argument.startswith("-") and argument != "-":
            flag, equals, text = argument.partition("=")
            if equals:
                found.append(_value(index, flag + "=", text, flag))
                flag = ""
            continue
        found.append(_value(index, "", argument, flag))
        # Flags that take several values are followed by all of them; a positional one after a flag's value looks like
        # one more, which changes nothing but for outputs, which have one.
        if flag in _OUTPUTS or flag == "--set":
            flag = ""
    return found


def _value(index: int, before: str, text: str, flag: str) -> Value:
    if flag == "--set":
        key, equals, value = text.partition("=")
        quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
        return Value(index, before + key + equals, value[1:-1] if quoted else value, flag)
    return Value(index, before, text, flag)


def is_output(value: Value) -> bool:
    """Says whether the value is the path of what is written."""
    return value.flag in _OUTPUTS


def _has_tables(folder: str) -> bool:
    try:
        return any(name.lower().endswith(ENDINGS) for name in os.listdir(folder))
    except OSError:
        return False


def is_table(text: str) -> bool:
    """Says whether a path is a Parquet or Arrow file, a pattern or a folder of such, or one of `save_to_disk`.

    Folders that hold what the program reads (corpus.jsonl, index.json) are none.
    """
    if os.path.isdir(text):
        if any(os.path.exists(os.path.join(text, name)) for name in ("corpus.jsonl", "corpus.jsonl.gz", "index.json")):
            return False
        dictionary, info, state = (os.path.isfile(os.path.join(text, name))
                                   for name in ("dataset_dict.json", "dataset_info.json", "state.json"))
        if dictionary or info and state:
            return True
        return any(_has_tables(os.path.join(text, inner)) for inner in ("", "data", "corpus", "queries"))
    if not text.lower().endswith(ENDINGS):
        return False
    return os.path.isfile(text) or any(sign in text for sign in "*?[") and bool(glob.glob(text))


def recipes_of(arguments: list[str]) -> list[str]:
    """The recipes among the arguments: files called .toml."""
    return [value.text for value in values_of(arguments)
            if not is_output(value) and value.text.endswith(".toml") and os.path.isfile(value.text)]


def wants_parquet(arguments: list[str]) -> bool:
    """Says whether --output names a Parquet file."""
    return any(is_output(value) and value.text.lower().endswith(".parquet") for value in values_of(arguments))


def has_tables(arguments: list[str]) -> bool:
    """Says whether anything here may be for the package rather than for the program alone."""
    if wants_parquet(arguments):
        return True
    if any(not is_output(value) and is_table(value.text) for value in values_of(arguments)):
        return True
    return any(_mentions_tables(recipe) for recipe in recipes_of(arguments))


def _mentions_tables(recipe: str) -> bool:
    """Says whether a path in the recipe is a table: by its strings, before anything parses it."""
    try:
        with open(recipe, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return False
    strings = text.replace("'", '"').split('"')[1::2]
    return any("\n" not in string and string and is_table(string) for string in strings)
