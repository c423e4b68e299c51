"""Rows of Arrow batches as lines of JSON."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ._errors import DataError
from ._tables import batches_of, data_error, pyarrow


def check_type(file: Path, field: Any) -> None:
    """Raises DataError for a column whose values JSON has not."""
    problem = _problem(pyarrow(file).types, field.type)
    if problem:
        raise data_error(file, f"the column {field.name} is of the type {problem}, which JSON lines have not; leave "
                         f"it out: tandem_retrieval.parquet.to_jsonl({str(file)!r}, ..., columns=[...])")


def _problem(types: Any, kind: Any) -> str:
    """The name of the type, or of one inside of it, that is no JSON; "" where there is none."""
    if hasattr(kind, "storage_type"):
        return _problem(types, kind.storage_type)
    if types.is_dictionary(kind):
        return _problem(types, kind.value_type)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _problem(types, kind.value_type)
    if types.is_struct(kind):
        found = (_problem(types, kind.field(i).type) for i in range(kind.num_fields))
        return next((name for name in found if name), "")
    plain = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_string,
             types.is_large_string, types.is_date, types.is_time, types.is_timestamp)
    view = getattr(types, "is_string_view", None)
    return "" if any(test(kind) for test in plain) or view is not None and view(kind) else str(kind)


def _of_time(value: Any) -> str:
    if isinstance(value, (datetime.date, datetime.time)):  # a datetime is a date
        return value.isoformat()
    raise TypeError(f"a value of the type {type(value).__name__}")


def _values(file: Path, batch: Any) -> list[dict[str, Any]]:
    try:
        return batch.to_pylist()
    except ValueError as error:  # as for a time in nanoseconds, which Python's have not
        raise data_error(file, f"has a value that Python has not: {error}") from None


def _line(row: Any) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False, default=_of_time, separators=(",", ":"))


def _not_finite(file: Path, row: dict[str, Any], number: int) -> DataError:
    for name, value in row.items():
        try:
            _line(value)
        except ValueError:
            return data_error(file, f"the column {name} has a number that is not finite, which JSON has not; write "
                              "null for what is not known, or leave the column out", number)
    raise AssertionError("every value of the row can be written, and the row cannot")


def json_lines(files: Sequence[Path], columns: Sequence[str] | None,
               keys: Sequence[str] | None = None) -> Iterator[tuple[int, bytes]]:
    """Yields (rows, their lines) for each batch of the files: one JSON object a row, a key a column.

    `keys` are other names for the columns, in their order.

    Nulls are null, lists are arrays, structs are objects, values of dictionaries are themselves, dates and times are
    strings as ISO 8601 has them.

    Raises:
        DataError: a column whose type JSON has not, a number that is not finite, a damaged file.
    """
    for file in files:
        done = 0
        for batch in batches_of(file, columns, check_type):
            lines = []
            named = batch if keys is None else type(batch).from_arrays(batch.columns, names=list(keys))
            for i, row in enumerate(_values(file, named)):
                try:
                    lines.append(_line(row))
                except ValueError:
                    raise _not_finite(file, row, done + i + 1) from None
            done += batch.num_rows
            if lines:
                yield len(lines), ("\n".join(lines) + "\n").encode()
