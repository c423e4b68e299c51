"""Training lines of whatever holds rows: files that the program reads."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ._arguments import path as checked_path
from ._errors import DataError
from ._write_whole import output_error

# Rows of a frame that are turned into Python's objects at once.
BLOCK_ROWS = 1024


def is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def check_rows(data: Any, name: str) -> None:
    """Raises TypeError for what is neither a path nor an iterable of rows."""
    if is_path(data):
        checked_path(data, name)
        return
    if isinstance(data, Mapping):  # datasets.DatasetDict is one too
        keys = ", ".join(repr(key) for key in list(data)[:5])
        raise TypeError(f"{name} is a {type(data).__name__} with the keys {keys}; expected rows: one of its values, or "
                        "a list of dicts")
    if isinstance(data, (bytes, bytearray)) or not (isinstance(data, Iterable) or _blocks_of_frame(data)):
        hint = "; call its collect() first" if hasattr(data, "collect") else ""
        raise TypeError(f"{name} is of the type {type(data).__name__}; expected a path, a frame, a table, or an "
                        f"iterable of dicts{hint}")


def write_rows(data: Any, path: Path, name: str) -> None:
    """Writes rows as JSON lines, in memory that does not grow with their number.

    Raises:
        TypeError: a row is no mapping with str keys, or has a value that JSON lacks.
        DataError: a number that is not finite, a text with a lone surrogate; `line` is the row's number, from 1.
        OutputError: the file cannot be written.
    """
    def of_file(call: Callable, *arguments: Any) -> Any:  # errors of the rows' source stay what they are
        try:
            return call(*arguments)
        except OSError as error:
            raise output_error(path, error) from None

    file = of_file(open, path, "xb")
    try:
        for number, row in enumerate(_rows(data), 1):
            of_file(file.write, _line(row, number, name))
    finally:
        of_file(file.close)


def _line(row: Any, number: int, name: str) -> bytes:
    if not isinstance(row, Mapping):
        raise TypeError(f"{name}: row {number} is of the type {type(row).__name__}; expected a dict")
    for key in row:
        if not isinstance(key, str):
            raise TypeError(f"{name}: row {number} has the key {key!r}, of the type {type(key).__name__}; expected str")
    try:
        return (json.dumps(dict(row), ensure_ascii=False, allow_nan=False, default=_plain) + "\n").encode()
    except TypeError:
        raise TypeError(f"{name}: row {number}: {_first_problem(row)}") from None
    except ValueError:
        problem = DataError(f"{name}:{number}: {_first_problem(row)}")
        problem.file, problem.line = name, number
        raise problem from None


def _first_problem(row: Mapping[str, Any]) -> str:
    for key, value in row.items():
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain).encode()
        except TypeError:
            return (f"{key!r} has a value of the type {type(value).__name__}, which JSON lacks; make it text, or leave "
                    "it out")
        except UnicodeEncodeError:
            return f"{key!r} has a text with a lone surrogate, which is no character"
        except ValueError:
            return f"{key!r} has a number that is not finite, or refers to itself; leave it out, or make it None"
    return "cannot be written as JSON"


def _plain(value: Any) -> Any:
    """Turns dates and times into ISO 8601's strings, and NumPy's scalars and arrays into Python's objects."""
    if isinstance(value, (datetime.date, datetime.time)):  # a datetime is a date, and pandas' Timestamp is one
        return value.isoformat()
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        if value.dtype.kind == "M":  # tolist() makes numbers of nanoseconds
            return np.datetime_as_string(value).tolist() if not np.isnat(value).any() else None
        plain = value.tolist()
        if isinstance(plain, (bool, int, float, str, list)):
            return plain
    raise TypeError(type(value).__name__)


def _rows(data: Any) -> Iterator[Any]:
    blocks = _blocks_of_frame(data)
    if blocks is None:
        yield from data
        return
    for block in blocks:
        yield from block


def _blocks_of_frame(data: Any) -> Iterator[list[dict]] | None:
    """Returns the rows of a frame or table in blocks; None where it is none. No package is imported for that."""
    package = type(data).__module__.partition(".")[0]
    if package == "pandas" and hasattr(data, "iloc") and hasattr(data, "columns"):
        return _of_pandas(data)
    if package == "polars" and hasattr(data, "iter_slices"):
        return (part.to_dicts() for part in data.iter_slices(BLOCK_ROWS))
    if package == "pyarrow" and hasattr(data, "to_batches"):
        return (part.to_pylist() for part in data.to_batches(max_chunksize=BLOCK_ROWS))
    if package == "pyarrow" and hasattr(data, "to_pylist") and hasattr(data, "schema"):  # a RecordBatch
        return (data.slice(at, BLOCK_ROWS).to_pylist() for at in range(0, data.num_rows, BLOCK_ROWS))
    if package == "pyarrow" and hasattr(data, "read_next_batch"):
        return (part.to_pylist() for part in data)
    return None


def _of_pandas(frame: Any) -> Iterator[list[dict]]:
    for begin in range(0, len(frame), BLOCK_ROWS):
        block = frame.iloc[begin : begin + BLOCK_ROWS].astype(object)
        # pandas has NaN, NaT and NA where a value is missing; JSON has null.
        yield block.where(block.notna(), None).to_dict("records")
