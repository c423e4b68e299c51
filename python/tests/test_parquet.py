"""Parquet and Arrow files in, and embeddings out: compared with what pyarrow and datasets say of the same files."""

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tandem_retrieval as tandem
from tandem_retrieval import parquet

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'tandem-retrieval[parquet]'")
pq = pytest.importorskip("pyarrow.parquet")

TRAINING = [
    {"query": f"what is {word}?", "positive_passages": [{"docid": f"d{i}", "title": None, "text": f"{word} is it"}],
     "negative_passages": [{"docid": f"d{i + 1}", "title": "t", "text": "“quotes” \\ 東京\n\tline"}] if i % 2 else [],
     "query_id": f"q{i}", "extra": None if i % 3 else 0.25}
    for i, word in enumerate("bread rain trains cafés ramen soup tea ink".split())
]


def lines_of(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def launch(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "tandem_program", *map(str, arguments)], capture_output=True,
                          text=True, timeout=300, **options)


def test_nested_lists_nulls_and_row_groups_become_the_same_values(folder):
    pq.write_table(pa.Table.from_pylist(TRAINING), "a.parquet", row_group_size=3)
    assert parquet.to_jsonl("a.parquet", "a.jsonl") == len(TRAINING)
    assert lines_of("a.jsonl") == TRAINING


def test_columns_of_dictionaries_times_and_whole_numbers(folder):
    day = datetime.date(2024, 2, 29)
    table = pa.table({
        "kind": pa.array(["a", "b", None, "a"]).dictionary_encode(),
        "day": pa.array([day] * 4),
        "at": pa.array([datetime.datetime(2024, 2, 29, 1, 2, 3)] * 4),
        "n": pa.array([1, 2**53 + 1, None, -1], pa.int64()),
        "wide": pa.array([["x", None]] * 4, pa.large_list(pa.large_string())),
    })
    pq.write_table(table, "a.parquet")
    assert parquet.to_jsonl("a.parquet", "a.jsonl", force=True, columns=["n", "kind", "day", "at", "wide"]) == 4
    read = lines_of("a.jsonl")
    assert [row["kind"] for row in read] == ["a", "b", None, "a"]
    assert [row["n"] for row in read] == [1, 2**53 + 1, None, -1]
    assert read[0]["day"] == "2024-02-29" and read[0]["at"] == "2024-02-29T01:02:03"
    assert read[3]["wide"] == ["x", None]
    assert list(read[0]) == ["n", "kind", "day", "at", "wide"]


def test_an_output_that_is_there_is_not_replaced_unasked(folder):
    pq.write_table(pa.table({"text": ["t"]}), "a.parquet")
    Path("o").write_text("mine")
    for write in (lambda: parquet.to_jsonl("a.parquet", "o"),
                  lambda: parquet.write_embeddings("o", ["a"], np.zeros((1, 2), np.float32))):
        with pytest.raises(tandem.UsageError, match="o: exists already; remove it, give another output, or force=True"):
            write()
        assert Path("o").read_text() == "mine"
    with pytest.raises(tandem.UsageError, match="a.parquet: is read and would be replaced"):
        parquet.to_jsonl("a.parquet", "a.parquet", force=True)
    assert parquet.to_jsonl("a.parquet", "o", force=True) == 1


@pytest.mark.parametrize(("ids", "error", "words"), [
    (["a", 3], TypeError, r"ids\[1\] is of the type int; expected str"),
    (["a", None], TypeError, r"ids\[1\] is of the type NoneType"),
    (["a", ""], tandem.UsageError, r"ids\[1\] is empty"),
    ("ab", TypeError, "ids is of the type str; expected an iterable of str"),
    (3, TypeError, "ids is of the type int"),
])
def test_ids_that_are_none(folder, ids, error, words):
    with pytest.raises(error, match=words):
        parquet.write_embeddings("e.parquet", ids, np.zeros((2, 3), np.float32))
    assert list(folder.iterdir()) == []


def test_files_of_a_pattern_and_of_a_folder_come_in_order(folder):
    os.mkdir("out")
    for i in range(12):
        pq.write_table(pa.table({"i": [i]}), f"out/part-{i:05}.snappy.parquet")
    Path("out/_SUCCESS").touch()
    pq.write_table(pa.table({"i": [99]}), "out/_hidden.parquet")
    for source in ("out", "out/part-*.parquet"):
        assert parquet.to_jsonl(source, "o.jsonl", force=True) == 12
        assert [row["i"] for row in lines_of("o.jsonl")] == list(range(12))


def test_splits_must_be_named(folder):
    os.makedirs("hub/data")
    for name in ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001"):
        pq.write_table(pa.table({"n": [name]}), f"hub/data/{name}.parquet")
    with pytest.raises(tandem.UsageError, match=r"holds the splits test, train; name one .*'hub/data/test\*.parquet'"):
        parquet.to_jsonl("hub", "o.jsonl")
    assert parquet.to_jsonl("hub/data/train*.parquet", "o.jsonl") == 2


def test_what_save_to_disk_writes(folder):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    saved = datasets.Dataset.from_list(TRAINING)
    saved.shuffle(seed=3).save_to_disk("one", num_shards=3)
    assert parquet.to_jsonl("one", "o.jsonl") == len(TRAINING)
    assert lines_of("o.jsonl") == list(datasets.load_from_disk("one"))
    datasets.DatasetDict(train=saved, test=saved.select([0])).save_to_disk("two")
    with pytest.raises(tandem.UsageError, match="holds the splits train, test; name one of them: two/train"):
        parquet.to_jsonl("two", "o.jsonl", force=True)
    assert parquet.to_jsonl("two/test", "o.jsonl", force=True) == 1


def test_arrow_files_of_both_forms(folder):
    table = pa.Table.from_pylist(TRAINING)
    with pa.OSFile("a.arrow", "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    with pa.OSFile("b.arrow", "wb") as out, pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    for name in ("a.arrow", "b.arrow"):
        parquet.to_jsonl(name, "o.jsonl", force=True)
        assert lines_of("o.jsonl") == TRAINING
        parquet.to_jsonl(name, "o.jsonl", columns=["query_id", "query"], force=True)
        assert [list(row.items()) for row in lines_of("o.jsonl")] == [
            [("query_id", row["query_id"]), ("query", row["query"])] for row in TRAINING]


@pytest.mark.parametrize(("column", "words"), [
    (pa.array([b"x"]), "the column c is of the type binary, which JSON lines have not"),
    (pa.array([[{"a": b"x"}]]), "the column c is of the type binary"),
    (pa.array([float("nan")]), "row 1: the column c has a number that is not finite"),
])
def test_what_json_has_not_is_named_and_nothing_is_written(folder, column, words):
    pq.write_table(pa.table({"text": ["t"], "c": column}), "a.parquet")
    with pytest.raises(tandem.DataError, match=words) as caught:
        parquet.to_jsonl("a.parquet", "o.jsonl")
    assert caught.value.file == "a.parquet"
    assert os.listdir() == ["a.parquet"]
    assert parquet.to_jsonl("a.parquet", "o.jsonl", columns=["text"]) == 1


def test_damaged_and_missing_files(folder):
    pq.write_table(pa.table({"t": ["x" * 100] * 1000}), "a.parquet")
    Path("cut.parquet").write_bytes(Path("a.parquet").read_bytes()[:-20])
    with pytest.raises(tandem.DataError, match="cut.parquet: is no Parquet or Arrow file that can be read"):
        parquet.to_jsonl("cut.parquet", "o.jsonl")
    with pytest.raises(tandem.DataError, match="nosuch.parquet: there is no such file or folder"):
        parquet.to_jsonl("nosuch.parquet", "o.jsonl")
    with pytest.raises(tandem.UsageError, match="has no column u; it has t"):
        parquet.to_jsonl("a.parquet", "o.jsonl", columns=["u"])
    with pytest.raises(tandem.OutputError) as caught:
        parquet.to_jsonl("a.parquet", "/proc/nosuch/o.jsonl")
    assert caught.value.errno and isinstance(caught.value, OSError)


def test_memory_does_not_grow_with_a_row_group(folder):
    texts = [f"{i} " + "word " * 200 for i in range(1000)]
    for name, times in (("small", 2), ("large", 120)):
        pq.write_table(pa.table({"text": texts * times}), f"{name}.parquet", row_group_size=10**9,
                       use_dictionary=False, compression=None)
    code = ("import sys; from tandem_retrieval import parquet; parquet.to_jsonl(sys.argv[1], 'o.jsonl', force=True); "
            "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])")
    peaks = {}
    for name in ("small", "large"):
        done = subprocess.run([sys.executable, "-c", code, f"{name}.parquet"], capture_output=True, text=True, check=True)
        peaks[name] = int(done.stdout)
    # The large one has 121 MB of text in its row group, the small one 2 MB.
    assert os.path.getsize("large.parquet") > 100e6
    assert peaks["large"] - peaks["small"] < 40_000


BEIR = {
    "corpus": pa.table({"id": ["d1", "d2"], "title": ["T", ""], "text": ["one", "two"]}),
    "queries": pa.table({"_id": ["q1", "q2"], "text": ["first", "second"], "other": [1, 2]}),
    "test": pa.table({"corpus-id": ["d1", "d2"], "query-id": ["q1", "q2"], "score": [1.0, 0.5]}),
    "dev": pa.table({"query-id": ["q2"], "corpus-id": ["d2"], "score": pa.array([2], pa.int32())}),
}


def write_beir(root):
    for name, part in (("corpus", "corpus"), ("queries", "queries"), ("test", "qrels"), ("dev", "qrels")):
        os.makedirs(f"{root}/{part}", exist_ok=True)
        pq.write_table(BEIR[name], f"{root}/{part}/{name}-00000-of-00001.parquet")


def test_a_folder_of_corpus_queries_and_judgements(folder):
    write_beir("hub")
    assert parquet.is_beir("hub")
    counts = parquet.to_beir("hub", "beir")
    assert counts == {"corpus.jsonl": 2, "queries.jsonl": 2, "qrels/dev.tsv": 1, "qrels/test.tsv": 2}
    assert lines_of("beir/corpus.jsonl")[0] == {"_id": "d1", "title": "T", "text": "one"}
    assert lines_of("beir/queries.jsonl") == [{"_id": "q1", "text": "first"}, {"_id": "q2", "text": "second"}]
    assert Path("beir/qrels/test.tsv").read_text() == "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t0.5\n"
    assert not parquet.is_beir("beir")
    with pytest.raises(tandem.UsageError, match="is no folder of corpus, queries and judgements"):
        parquet.to_beir("beir", "again")


def test_embeddings_are_written_as_lists_of_one_size(folder):
    rows = np.random.default_rng(1).normal(size=(40_000, 8)).astype(np.float32)
    fields = ({"n": pa.array(range(begin, begin + 7))} for begin in range(0, 40_000 - 2, 7))
    last = [{"n": pa.array(range(40_000 - 40_000 % 7, 40_000))}]
    made = parquet.write_embeddings("e.parquet", map(str, range(40_000)), rows, [*fields][: 40_000 // 7] + last)
    assert made == 40_000
    table = pq.read_table("e.parquet")
    assert table.schema.field("embedding").type == pa.list_(pa.float32(), 8)
    assert table["id"].to_pylist() == [str(i) for i in range(40_000)]
    assert table["n"].to_pylist() == list(range(40_000))
    assert (np.stack(table["embedding"].to_numpy()) == rows).all()
    assert pq.ParquetFile("e.parquet").num_row_groups == 3


@pytest.mark.parametrize(("ids", "fields", "words"), [
    (["a"], None, "fewer ids"),
    (["a", "b", "c"], None, "more ids than the 2"),
    (["a", "b"], [{"n": [1]}], "fewer rows of fields"),
    (["a", "b"], [{"n": [1, 2]}, {"n": [3]}], "more rows of fields than the 2"),
    (["a", "b"], [{"id": [1, 2]}], "a field is called id"),
])
def test_other_numbers_of_ids_and_fields(folder, ids, fields, words):
    with pytest.raises(tandem.UsageError, match=words):
        parquet.write_embeddings("e.parquet", ids, np.zeros((2, 3), np.float32), fields)
    assert os.listdir() == []


def test_the_extra_is_named_where_pyarrow_is_missing(folder):
    pq.write_table(pa.table({"text": ["a"]}), "a.parquet")
    Path("pyarrow").mkdir()
    Path("pyarrow/__init__.py").write_text("raise ImportError('none here')\n")
    env = {**os.environ, "PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"}
    done = launch("encode", "nosuch", "a.parquet", "--output", "o", env=env)
    assert done.returncode == 2
    assert done.stderr == ("error: a.parquet takes pyarrow, which is not installed (none here): "
                           "pip install 'tandem-retrieval[parquet]'\n")
    # What is no table takes none.
    assert launch("list", "measures", env=env).returncode == 0
