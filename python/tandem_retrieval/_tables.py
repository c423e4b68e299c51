"""Rows of Parquet and Arrow files, batch by batch, in memory that does not grow with their number."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ._errors import DataError, UsageError

ENDINGS = (".parquet", ".arrow")
# Rows that are in memory together: 1,024 of 1,000 words each have 6 MB.
BATCH_ROWS = 1024
# What a column of a row group is read by, instead of whole: 1 MiB.
_READ_BYTES = 1 << 20
_SHARD = re.compile(r"(?P<split>.+?)-\d{5}-of-\d{5}(-[0-9a-f]+)?")
_SPLITS = frozenset({"train", "training", "dev", "validation", "valid", "val", "test", "testing"})


def pyarrow(what: str | os.PathLike[str]):
    """Returns the module pyarrow, with its Parquet and IPC parts.

    Raises:
        UsageError: it is not installed; the message says what needs it.
    """
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError(f"{os.fspath(what)} takes pyarrow, which is not installed ({error}): "
                         "pip install 'tandem-retrieval[parquet]'") from None
    return pyarrow


def data_error(path: str | os.PathLike[str], problem: str, row: int | None = None) -> DataError:
    """A DataError with its facts; `row` counts from 1."""
    place = os.fspath(path) + (f", row {row}" if row is not None else "")
    error = DataError(f"{place}: {problem}")
    error.file, error.line = os.fspath(path), row
    return error


def is_table_file(name: str) -> bool:
    """Says whether a file has this name that Parquet and Arrow files have; those that writers hide do not count."""
    return name.lower().endswith(ENDINGS) and not name.startswith(("_", "."))


def _files_in(folder: Path) -> list[Path]:
    return sorted(folder / name for name in os.listdir(folder) if is_table_file(name))


def split_of(file: Path) -> str | None:
    """The split that a file's name says, as "train" of train-00000-of-00004.parquet; None: it names none."""
    match = _SHARD.fullmatch(file.stem)
    name = match["split"] if match else file.stem
    return name if name in _SPLITS or match and name != "data" else None


def by_split(files: Sequence[Path]) -> dict[str, list[Path]]:
    """Files by the split that their names say; all are one where no name says any."""
    if not any(split_of(file) for file in files):
        return {"": list(files)}
    found: dict[str, list[Path]] = {}
    for file in files:
        found.setdefault(split_of(file) or file.stem, []).append(file)
    return found


def is_saved_to_disk(folder: Path) -> bool:
    """Says whether `datasets.Dataset.save_to_disk` has written the folder."""
    return (folder / "state.json").is_file() and (folder / "dataset_info.json").is_file()


def saved_splits(folder: Path) -> list[str] | None:
    """The splits of a folder that `datasets.DatasetDict.save_to_disk` has written; None: it has not."""
    file = folder / "dataset_dict.json"
    if not file.is_file():
        return None
    try:
        return list(json.loads(file.read_text())["splits"])
    except (ValueError, KeyError, TypeError):
        raise data_error(file, 'expected {"splits": [...]}, as datasets\' save_to_disk writes it') from None


def _saved_files(folder: Path) -> list[Path]:
    file = folder / "state.json"
    try:
        state = json.loads(file.read_text())
        files = [folder / part["filename"] for part in state["_data_files"]]
    except (ValueError, KeyError, TypeError):
        raise data_error(file, 'expected {"_data_files": [{"filename": ...}]}, as datasets\' save_to_disk '
                         "writes it") from None
    if state.get("_indices_data_files"):
        raise data_error(folder, "has rows that indices choose, as earlier versions of datasets wrote them; "
                         "write it anew: datasets.load_from_disk(...).flatten_indices().save_to_disk(...)")
    return files


def table_files(source: str | os.PathLike[str]) -> list[Path]:
    """The files of one table, in the order of their rows.

    Args:
        source: a file, a pattern of files, a folder of files, or a folder of datasets' `save_to_disk`.

    Raises:
        UsageError: a folder of several splits, which the message names. DataError: nothing is there.
    """
    path = Path(source)
    if path.is_file():
        return [path]
    if not path.is_dir():
        files = sorted(Path(name) for name in glob.glob(os.fspath(source)) if is_table_file(os.path.basename(name)))
        if not files:
            raise data_error(path, "there is no such file or folder; expected a Parquet or Arrow file, a pattern or "
                             "a folder of them, or a folder of datasets' save_to_disk")
        return files
    if (splits := saved_splits(path)) is not None:
        if len(splits) != 1:
            raise UsageError(f"{path} holds the splits {', '.join(splits)}; name one of them: {path / splits[0]}"
                             if splits else f"{path} holds no split")
        path = path / splits[0]
    if is_saved_to_disk(path):
        return _saved_files(path)
    files = _files_in(path) or (_files_in(path / "data") if (path / "data").is_dir() else [])
    if not files:
        raise data_error(path, "holds no Parquet or Arrow file")
    parts = by_split(files)
    if len(parts) > 1:
        first = next(iter(parts))
        raise UsageError(f"{path} holds the splits {', '.join(parts)}; name one of them by a pattern: "
                         f"'{files[0].parent / first}*.parquet'")
    return files


def _opened(file: Path) -> tuple[Any, Any]:
    """A schema, and a function of a list of columns that yields batches."""
    arrow = pyarrow(file)
    try:
        with open(file, "rb") as opened:
            start = opened.read(6)
        if start.startswith(b"PAR1"):
            table = arrow.parquet.ParquetFile(file, buffer_size=_READ_BYTES, pre_buffer=False)
            return table.schema_arrow, lambda columns: table.iter_batches(BATCH_ROWS, columns=columns)
        mapped = arrow.memory_map(os.fspath(file))
        if start == b"ARROW1":
            whole = arrow.ipc.open_file(mapped)
            batches = (whole.get_batch(i) for i in range(whole.num_record_batches))
            return whole.schema, lambda _: batches
        stream = arrow.ipc.open_stream(mapped)
        return stream.schema, lambda _: stream
    except FileNotFoundError:
        raise data_error(file, "there is no such file") from None
    except (arrow.ArrowInvalid, OSError) as error:
        raise data_error(file, f"is no Parquet or Arrow file that can be read ({_first_line(error)})") from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__


def columns_of(file: Path, schema: Any, wanted: Sequence[str] | None) -> list[str]:
    """The columns to read: those wanted, or all.

    Raises:
        UsageError: a wanted one that is not there. DataError: two of one name.
    """
    for name in schema.names:
        if schema.names.count(name) > 1:
            raise data_error(file, f"has two columns called {name}")
    for name in wanted or ():
        if name not in schema.names:
            raise UsageError(f"{file} has no column {name}; it has {', '.join(schema.names)}")
    return list(schema.names if wanted is None else wanted)


def column_names(file: Path) -> list[str]:
    """The names of a file's columns. Raises DataError."""
    schema, _ = _opened(file)
    return columns_of(file, schema, None)


def batches_of(file: Path, columns: Sequence[str] | None, check: Any = None) -> Iterator[Any]:
    """Yields record batches of at most BATCH_ROWS rows with these columns; None: all.

    `check(file, field)` is called for each column before the first batch.
    """
    arrow = pyarrow(file)
    schema, read = _opened(file)
    names = columns_of(file, schema, columns)
    for name in names:
        if check is not None:
            check(file, schema.field(name))
    try:
        for read_batch in read(names):
            batch = read_batch.select(names)  # Arrow's readers give all columns
            for begin in range(0, batch.num_rows, BATCH_ROWS):
                yield batch.slice(begin, BATCH_ROWS)
    except (arrow.ArrowInvalid, OSError) as error:
        raise data_error(file, f"is damaged ({_first_line(error)})") from None
