"""Rows of every kind become the training lines that a list of dicts becomes."""

import datetime
import json
import os

import numpy as np
import pytest

import tandem_retrieval as tandem
from tandem_retrieval._rows import check_rows, write_rows

ROWS = [
    {"query": "naïve 東京", "positive": "b \"quoted\"\n", "score": 0.5, "negative": ["c", "d"]},
    {"query": "e", "positive": "f", "score": None, "negative": None},
    {"query": "", "positive": "h", "score": 1.0, "negative": ["i"]},
]


def written(data, tmp_path):
    check_rows(data, "data")
    path = tmp_path / "data.jsonl"
    path.unlink(missing_ok=True)
    write_rows(data, path, "data")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_lists_generators_and_numpy(tmp_path):
    assert written(ROWS, tmp_path) == ROWS
    assert written((row for row in ROWS), tmp_path) == ROWS
    assert written([{"score": np.float32(0.5), "n": np.int64(3), "b": np.bool_(True), "scores": np.array([1.0, 2.0])}],
                   tmp_path) == [{"score": 0.5, "n": 3, "b": True, "scores": [1.0, 2.0]}]


def test_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    assert written(frame, tmp_path) == ROWS
    assert written(frame.set_index("query", drop=False)[1:], tmp_path) == ROWS[1:]
    many = pandas.DataFrame({"query": [f"q{i}" for i in range(3000)], "positive": "p", "n": range(3000)})
    found = written(many, tmp_path)
    assert len(found) == 3000  # pytest takes minutes to say how lists of so many rows differ
    assert all(row == {"query": f"q{i}", "positive": "p", "n": i} for i, row in enumerate(found))
    with pytest.raises(TypeError, match="row 1 has the key 0, of the type int"):
        written(pandas.DataFrame([["a", "b"]]), tmp_path)
    at = pandas.Timestamp("2024-02-29T01:02:03")
    assert written(pandas.DataFrame({"query": ["a", "b"], "when": [at, pandas.NaT]}), tmp_path) == [
        {"query": "a", "when": "2024-02-29T01:02:03"}, {"query": "b", "when": None}]


def test_polars(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS)
    assert written(frame, tmp_path) == ROWS
    many = polars.DataFrame({"query": [f"q{i}" for i in range(3000)]})
    found = written(many, tmp_path)
    assert len(found) == 3000 and all(row == {"query": f"q{i}"} for i, row in enumerate(found))
    with pytest.raises(TypeError, match="expected a path, a frame, a table.*collect"):
        written(frame.lazy(), tmp_path)


def test_arrow(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pylist(ROWS)
    assert written(table, tmp_path) == ROWS
    assert written(table.to_batches()[0], tmp_path) == ROWS
    assert written(table.to_reader(), tmp_path) == ROWS


def test_dates_and_times_are_those_of_a_parquet_file(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    from tandem_retrieval import parquet

    table = pyarrow.table({
        "query": ["a", "b"], "day": [datetime.date(2024, 2, 29), None], "time": [datetime.time(1, 2, 3), None],
        "at": pyarrow.array([1709168523, None], pyarrow.timestamp("s", tz="UTC")),
        "exact": pyarrow.array([1709168523123456, None], pyarrow.timestamp("us"))})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    parquet.to_jsonl(tmp_path / "a.parquet", tmp_path / "a.jsonl")
    expected = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert expected[0]["day"] == "2024-02-29" and expected[1]["at"] is None
    assert written(table, tmp_path) == expected


def test_numpys_dates(tmp_path):
    at = np.datetime64("2024-02-29T01:02:03.123456789")
    assert written([{"at": at, "day": np.datetime64("2024-02-29"), "none": np.datetime64("NaT"),
                     "all": np.array(["2024-01-01", "2024-01-02"], "datetime64[D]")}], tmp_path) == [
        {"at": "2024-02-29T01:02:03.123456789", "day": "2024-02-29", "none": None, "all": ["2024-01-01", "2024-01-02"]}]


def test_datasets(tmp_path):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list(ROWS)
    assert written(data, tmp_path) == ROWS
    assert written(data.to_iterable_dataset(), tmp_path) == ROWS
    with pytest.raises(TypeError, match="data is a DatasetDict with the keys 'train'; expected rows: one of its values"):
        check_rows(datasets.DatasetDict({"train": data}), "data")


@pytest.mark.parametrize("data", [3, None, b"x", {"query": ["a"]}, object()])
def test_what_holds_no_rows(data):
    with pytest.raises(TypeError, match="^data is"):
        check_rows(data, "data")


def test_rows_that_json_lacks(tmp_path):
    for row, words in ((("a", "b"), "row 2 is of the type tuple"), ("text", "row 2 is of the type str"),
                       ({1: "a"}, "row 2 has the key 1"), ({"query": {1, 2}}, "row 2: 'query' has a value of the type set")):
        with pytest.raises(TypeError, match=words):
            written([ROWS[0], row], tmp_path)
    for value, words in ((float("nan"), "'score' has a number that is not finite"), ("\ud800", "a lone surrogate"),
                         ([1.0, np.float64("inf")], "not finite")):
        with pytest.raises(tandem.DataError, match=words) as caught:
            written([ROWS[0], {"query": "q", "score": value}], tmp_path)
        assert (caught.value.file, caught.value.line) == ("data", 2)


def test_an_error_of_the_source_is_its_own(tmp_path):
    def source():
        yield ROWS[0]
        raise RuntimeError("of the source")

    with pytest.raises(RuntimeError, match="of the source"):
        written(source(), tmp_path)
    def missing():
        yield ROWS[0]
        open(tmp_path / "nosuch")

    with pytest.raises(FileNotFoundError, match="nosuch") as caught:
        written(missing(), tmp_path)
    assert not isinstance(caught.value, tandem.Error)
    with pytest.raises(tandem.OutputError) as caught:
        write_rows(ROWS, tmp_path / "nosuch" / "data.jsonl", "data")
    assert caught.value.errno == 2 and caught.value.file.endswith("data.jsonl")


def test_memory_does_not_grow_with_the_rows(tmp_path):
    def resident_kib():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024

    text = "word " * 200
    most = 0

    def source():
        nonlocal most
        for number in range(60_000):
            if number % 5000 == 0:
                most = max(most, resident_kib())
            yield {"query": f"q{number}", "positive": f"{number} {text}"}

    written_before = resident_kib()
    write_rows(source(), tmp_path / "data.jsonl", "data")
    assert (tmp_path / "data.jsonl").stat().st_size > 50 << 20
    assert most - written_before < 8 << 10
