"""Folders with corpus, queries and judgements as Parquet files, and BEIR folders of them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ._json_rows import json_lines
from ._tables import batches_of, by_split, column_names, data_error, is_table_file, pyarrow

# The names of columns that the hub's data sets have.
_IDS = ("_id", "id")
_QUERY_IDS = ("query-id", "query_id")
_DOCUMENT_IDS = ("corpus-id", "corpus_id", "document_id", "docid")
_GRADES = ("score", "grade", "relevance")


class BeirTables(NamedTuple):
    """The files of each part."""

    corpus: list[Path]
    queries: list[Path]
    qrels: dict[str, list[Path]]  # split -> files


def _files_called(folder: Path, name: str) -> list[Path]:
    """Files of the folder `name`, else those called NAME.parquet, NAME-00000-of-00001.parquet."""
    inner = folder / name
    at = inner if inner.is_dir() else folder
    pattern = re.compile(r".+" if inner.is_dir() else rf"{name}(-\d{{5}}-of-\d{{5}}(-[0-9a-f]+)?)?\.[a-z]+")
    return sorted(file for file in at.iterdir() if is_table_file(file.name) and pattern.fullmatch(file.name))


def beir_tables(folder: Path) -> BeirTables | None:
    """The parts of a folder; None: it lacks one of them, or is a BEIR folder already."""
    if not folder.is_dir() or any((folder / name).exists() for name in ("corpus.jsonl", "corpus.jsonl.gz")):
        return None
    corpus, queries = _files_called(folder, "corpus"), _files_called(folder, "queries")
    qrels = next((files for name in ("qrels", "data", "default")
                  if (folder / name).is_dir() and (files := _files_called(folder, name))), [])
    if not corpus or not queries or not qrels:
        return None
    return BeirTables(corpus, queries, {split or "test": files for split, files in by_split(qrels).items()})


def _column(file: Path, names: Sequence[str], known: Sequence[str]) -> str:
    found = next((name for name in known if name in names), None)
    if found is None:
        raise data_error(file, f"has no column {' or '.join(known)}; it has {', '.join(names)}")
    return found


def _write_texts(files: Sequence[Path], output: Path) -> int:
    rows = 0
    with open(output, "wb") as out:
        for file in files:
            names = column_names(file)
            chosen = {_column(file, names, _IDS): "_id"}
            if "title" in names:
                chosen["title"] = "title"
            chosen[_column(file, names, ("text",))] = "text"
            for number, lines in json_lines([file], list(chosen), list(chosen.values())):
                out.write(lines)
                rows += number
    return rows


def _field(file: Path, value: Any, row: int) -> str:
    if value is None or isinstance(value, (list, dict, bytes)):
        raise data_error(file, f"a judgement has {json.dumps(value, default=str)} as an id or a grade", row)
    text = str(value)
    if any(sign in text for sign in "\t\r\n"):
        raise data_error(file, f"an id has a tab or a line end, which a table of judgements cannot have: {text!r}", row)
    return text


def _grade(file: Path, value: Any, row: int) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return _field(file, value, row)


def _write_judgements(files: Sequence[Path], output: Path) -> int:
    rows = 0
    with open(output, "w", encoding="utf-8", newline="") as out:
        out.write("query-id\tcorpus-id\tscore\n")
        for file in files:
            names = column_names(file)
            chosen = [_column(file, names, known) for known in (_QUERY_IDS, _DOCUMENT_IDS, _GRADES)]
            done = 0
            for batch in batches_of(file, chosen):
                values = (column.to_pylist() for column in batch.columns)
                for query, document, grade in zip(*values):
                    done += 1
                    out.write(f"{_field(file, query, done)}\t{_field(file, document, done)}\t"
                              f"{_grade(file, grade, done)}\n")
            rows += done
    return rows


def write_beir(tables: BeirTables, output: Path) -> dict[str, int]:
    """Writes the parts into a new folder, and returns the rows of each file."""
    pyarrow(output)
    (output / "qrels").mkdir(parents=True)
    counts = {"corpus.jsonl": _write_texts(tables.corpus, output / "corpus.jsonl"),
              "queries.jsonl": _write_texts(tables.queries, output / "queries.jsonl")}
    for split, files in tables.qrels.items():
        name = f"qrels/{split}.tsv"
        counts[name] = _write_judgements(files, output / name)
    return counts
