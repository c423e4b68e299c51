"""Parquet and Arrow files as Tandem's own, and back: with the extra `tandem-retrieval[parquet]`.

    from tandem_retrieval import parquet

    parquet.to_jsonl("train-*.parquet", "train.jsonl")         # training data, corpora, queries
    parquet.to_beir("scifact", "data/scifact")                 # a folder with corpus, queries and judgements
    parquet.write_embeddings("corpus.parquet", ids, rows)      # what encode has made

The program of this package does the first two by itself where an argument is such a file or folder (docs/parquet.md).
Memory does not grow with the number of rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arguments import array, wrong_type
from ._beir_tables import beir_tables, write_beir
from ._errors import UsageError
from ._json_rows import json_lines
from ._tables import batches_of, pyarrow, table_files
from ._write_whole import free_output, whole

__all__ = ["columns", "is_beir", "to_beir", "to_jsonl", "write_embeddings"]

# Rows of a row group of embeddings: 25 MB of 384 numbers, which readers hold at once.
ROW_GROUP = 16384
Source = "str | os.PathLike[str]"


def to_jsonl(source: str | os.PathLike[str], output: str | os.PathLike[str], *,
             columns: Sequence[str] | None = None, force: bool = False) -> int:
    """Writes a table as JSON lines: an object a row, in the order of rows, a key a column.

    Nulls are null, lists are arrays, structs are objects, values of dictionaries are themselves, dates and times are
    strings as ISO 8601 has them. A column of one name for each of `columns` is read, and no other; None: all.

    Args:
        source: a Parquet or Arrow file, a pattern or a folder of them, or a folder of datasets' `save_to_disk`.
        force: replaces an output that is there; else that is a UsageError.

    Returns:
        the number of rows.

    Raises:
        DataError: nothing is there, a damaged file, a column whose type JSON has not, a number that is not finite.
        UsageError: a column that is not there, a folder of several splits, no pyarrow. OutputError.
    """
    pyarrow(source)
    target = free_output(output, force)
    files = table_files(source)
    if any(target.exists() and os.path.samefile(target, file) for file in files):
        raise UsageError(f"{target}: is read and would be replaced; give another output")
    rows = 0
    with whole(target) as temporary, open(temporary, "wb") as file:
        for number, lines in json_lines(files, columns):
            file.write(lines)
            rows += number
    return rows


def is_beir(folder: str | os.PathLike[str]) -> bool:
    """Says whether a folder has corpus, queries and judgements as Parquet files (`to_beir`)."""
    return beir_tables(Path(folder)) is not None


def to_beir(folder: str | os.PathLike[str], output: str | os.PathLike[str]) -> dict[str, int]:
    """Makes a BEIR folder of one with Parquet files, as the hub's BeIR and mteb data sets have them.

    The files are those of the folders (or called) `corpus`, `queries`, and `qrels` or `data`; the judgements' names
    say the splits. Columns are `_id` or `id`, `text`, `title`; and `query-id`, `corpus-id`, `score`.

    Returns:
        rows by file: {"corpus.jsonl": 5183, "queries.jsonl": 1109, "qrels/test.tsv": 339}.

    Raises:
        DataError, UsageError, OutputError: as `to_jsonl`.
    """
    pyarrow(folder)
    tables = beir_tables(Path(folder))
    if tables is None:
        raise UsageError(f"{os.fspath(folder)} is no folder of corpus, queries and judgements (qrels, or data) as "
                         "Parquet files")
    with whole(output) as temporary:
        return write_beir(tables, temporary)


def columns(source: str | os.PathLike[str], names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yields the values of columns of a table, batch by batch: {name: pyarrow array}.

    Raises:
        as `to_jsonl`.
    """
    for file in table_files(source):
        for batch in batches_of(file, names):
            yield {name: batch.column(i) for i, name in enumerate(names)}


def write_embeddings(output: str | os.PathLike[str], ids: Iterable[str], embeddings: npt.ArrayLike,
                     fields: Iterable[Mapping[str, Any]] | None = None, *, force: bool = False) -> int:
    """Writes embeddings as Parquet: `id` (string), `embedding` (a list of E float32 in each row), and fields.

    Args:
        ids: N of them.
        embeddings: floating [N, E]; a mapped file is read block by block.
        fields: further columns, as `columns` yields them: batches that have N rows together.
        force: replaces an output that is there; else that is a UsageError.

    Returns:
        N.

    Raises:
        UsageError: other numbers of ids, rows and values. TypeError: an id that is no str. OutputError.
    """
    arrow = pyarrow(output)
    target = free_output(output, force)
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        wrong_type(ids, "ids", "an iterable of str")
    if isinstance(embeddings, np.ma.MaskedArray):
        array(embeddings, "embeddings")  # refuses it
    rows = np.asanyarray(embeddings)
    if rows.ndim != 2 or not np.issubdtype(rows.dtype, np.floating):
        raise UsageError(f"embeddings has the shape {list(rows.shape)} and the dtype {rows.dtype}; expected [N, E] of "
                         "floating numbers")
    taken = _Fields(arrow, fields)
    identifiers = iter(ids)
    done = write_batches(target, (
        _batch(identifiers, np.ascontiguousarray(rows[begin : begin + ROW_GROUP], np.float32), taken, begin)
        for begin in range(0, max(len(rows), 1), ROW_GROUP)
    ), lambda: _check_end(identifiers, taken, len(rows)))
    return done


def _check_end(ids: Iterator[str], fields: _Fields, rows: int) -> None:
    if next(ids, None) is not None:
        raise UsageError(f"there are more ids than the {rows} embeddings")
    fields.check_end(rows)


def write_batches(output: str | os.PathLike[str], batches: Iterable[Any], check: Callable[[], None]) -> int:
    """Writes record batches with `id` and `embedding`, at least one, as a row group each; returns their rows.

    `check` is called after the last of them: where it raises, nothing is written.

    Raises:
        OutputError.
    """
    arrow = pyarrow(output)
    writer, done = None, 0
    with whole(output) as temporary:
        try:
            for batch in batches:
                writer = writer or _writer(arrow, temporary, batch.schema)
                writer.write_batch(batch)
                done += batch.num_rows
            check()
        finally:
            if writer is not None:
                writer.close()
    return done


def _writer(arrow: Any, path: Path, schema: Any) -> Any:
    # Dictionaries and statistics of numbers that hardly repeat would cost time and bring nothing.
    repeated = [name for name in schema.names if name not in ("id", "embedding")]
    return arrow.parquet.ParquetWriter(path, schema, use_dictionary=repeated, write_statistics=["id", *repeated])


def embedding_batch(ids: Sequence[str], rows: np.ndarray, fields: Mapping[str, Any]) -> Any:
    """A record batch of ids [N], embeddings float32 [N, E] and pyarrow arrays [N]."""
    arrow = pyarrow("a record batch")
    vectors = arrow.FixedSizeListArray.from_arrays(arrow.array(rows.ravel()), rows.shape[1])
    return arrow.RecordBatch.from_pydict({"id": arrow.array(ids, arrow.string()), "embedding": vectors, **fields})


def _batch(ids: Iterator[str], block: np.ndarray, fields: _Fields, first: int) -> Any:
    named = list(islice(ids, len(block)))
    if len(named) < len(block):
        raise UsageError("there are fewer ids than embeddings")
    for number, id in enumerate(named, first):
        if not isinstance(id, str):
            wrong_type(id, f"ids[{number}]", "str")
        if not id:
            raise UsageError(f"ids[{number}] is empty")
    return embedding_batch(named, block, fields.take(len(block)))


class _Fields:
    """Further columns, of which batches of other sizes are taken."""

    def __init__(self, arrow: Any, batches: Iterable[Mapping[str, Any]] | None) -> None:
        self._arrow = arrow
        self._none = batches is None
        self._batches = iter(batches or ())
        self._left: dict[str, Any] | None = None

    def _next(self) -> bool:
        batch = next(self._batches, None)
        if batch is None:
            return False
        for name in ("id", "embedding"):
            if name in batch:
                raise UsageError(f"a field is called {name}, as a column of embeddings is; leave it out")
        self._left = {name: array if isinstance(array, self._arrow.Array) else self._arrow.array(array)
                      for name, array in batch.items()}
        return True

    def _rows_left(self) -> int:
        return len(next(iter(self._left.values()))) if self._left else 0

    def take(self, rows: int) -> dict[str, Any]:
        if self._none:
            return {}
        parts: dict[str, list[Any]] = {}
        while rows:
            if self._rows_left() == 0:
                if not self._next():
                    raise UsageError("there are fewer rows of fields than embeddings")
                continue
            here = min(rows, self._rows_left())
            for name, array in self._left.items():
                parts.setdefault(name, []).append(array[:here])
                self._left[name] = array[here:]
            rows -= here
        return {name: self._joined(arrays) for name, arrays in parts.items()}

    def _joined(self, arrays: list[Any]) -> Any:
        # A file's dictionary is not the next one's: values are written themselves.
        plain = [array.dictionary_decode() if self._arrow.types.is_dictionary(array.type) else array
                 for array in arrays]
        return self._arrow.concat_arrays(plain)

    def check_end(self, rows: int) -> None:
        while self._rows_left() == 0:
            if not self._next():
                return
        raise UsageError(f"there are more rows of fields than the {rows} embeddings")
