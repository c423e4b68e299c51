"""The program `tandem` of the package takes Parquet files: the same results as with JSON lines of the same rows."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tandem_retrieval as tandem

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'tandem-retrieval[parquet]'")
pq = pytest.importorskip("pyarrow.parquet")

WORDS = "bread rain trains cafés ramen soup tea ink salt wool iron glass".split()
CORPUS = [{"_id": f"d{i}", "title": f"Title {i}" if i % 3 else None, "text": f"{word} is made in {WORDS[i - 1]}",
           "year": None if i == 4 else 1990 + i, "lang": "de" if i % 2 else None} for i, word in enumerate(WORDS)]
TRAINING = [{"anchor": f"what is {word}?", "positive": f"{word} is a thing", "negative": f"{word} is not"}
            for word in WORDS]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.Table.from_pylist(CORPUS), "corpus.parquet", row_group_size=5)
    Path("corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CORPUS))
    return tmp_path


def launch(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "tandem_program", *map(str, arguments)], capture_output=True,
                          text=True, timeout=300, **options)


def launched(*arguments):
    done = launch(*arguments)
    assert done.returncode == 0, done.stderr
    return done


def test_what_is_no_table_is_the_programs(program, folder):
    native = subprocess.run([program, "list", "measures"], capture_output=True, text=True, check=True)
    assert launched("list", "measures").stdout == native.stdout
    missing = launch("inspect", "nosuch.parquet")
    assert missing.returncode == 2 and "nosuch.parquet: there is no such file" in missing.stderr
    assert not (folder / "cache").exists()


def test_encode_reads_and_writes_parquet(model_folder, model, folder):
    launched("encode", model_folder, "corpus.parquet", "--output", "from-parquet")
    launched("encode", model_folder, "corpus.jsonl", "--output", "from-lines")
    for name in ("embeddings.npy", "ids.txt"):
        assert Path("from-parquet", name).read_bytes() == Path("from-lines", name).read_bytes()
    done = launched("encode", model_folder, "corpus.parquet", "--output", "e.parquet", "--field", "year",
                    "--field=lang")
    assert done.stderr.endswith("12 embeddings -> e.parquet\n")
    table = pq.read_table("e.parquet")
    assert table.schema.names == ["id", "embedding", "year", "lang"]
    assert table.schema.field("embedding").type == pa.list_(pa.float32(), 384)
    assert table["id"].to_pylist() == [row["_id"] for row in CORPUS]
    for name in ("year", "lang"):
        assert table[name].to_pylist() == [row[name] for row in CORPUS]
    assert (np.stack(table["embedding"].to_numpy()) == np.load("from-lines/embeddings.npy")).all()
    assert not Path("e.parquet.encoding").exists()


def test_encode_refuses_before_it_encodes(model_folder, folder):
    Path("there.parquet").write_text("x")
    for arguments, words in (
        (("corpus.parquet", "--output", "there.parquet"), "there.parquet is there already; --force encodes anew"),
        (("corpus.parquet", "--output", "e.parquet", "--field", "no"), "--field no: corpus.parquet has no such column"),
        (("corpus.jsonl", "--output", "e.parquet", "--field", "year"), "--field takes columns of Parquet or Arrow"),
        (("corpus.parquet", "--output", "e.parquet", "--shard", "0/2"), "--shard is not for a Parquet file"),
    ):
        done = launch("encode", model_folder, *arguments)
        assert done.returncode == 2 and words in done.stderr, done.stderr
        assert sorted(os.listdir()) == ["corpus.jsonl", "corpus.parquet", "there.parquet"]
    env = {**os.environ, "WORLD_SIZE": "2"}
    done = launch("encode", model_folder, "corpus.parquet", "--output", "e.parquet", env=env)
    assert done.returncode == 2 and "several processes (WORLD_SIZE=2)" in done.stderr


def test_an_interrupted_encode_goes_on(model_folder, folder):
    texts = [f"{i} {WORDS[i % 12]}" for i in range(800)]
    pq.write_table(pa.table({"_id": [f"d{i}" for i in range(800)], "text": texts}), "many.parquet")
    command = ("encode", model_folder, "many.parquet", "--output", "e.parquet", "--block-texts", "32", "--threads", "1")
    child = subprocess.Popen([sys.executable, "-m", "tandem_program", *command], stderr=subprocess.DEVNULL)
    part = folder / "e.parquet.encoding" / "embeddings.npy.part"
    while not part.exists() or part.stat().st_size < 50_000:
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=60) == 143
    assert not Path("e.parquet").exists()
    done = launched(*command, "--resume")
    assert "800 embeddings -> e.parquet" in done.stderr
    launched("encode", model_folder, "many.parquet", "--output", "whole", "--block-texts", "32", "--threads", "1")
    rows = np.stack(pq.read_table("e.parquet")["embedding"].to_numpy())
    assert (rows == np.load("whole/embeddings.npy")).all()


def test_converted_files_are_kept_until_the_table_changes(model_folder, folder):
    pq.write_table(pa.Table.from_pylist(TRAINING), "train.parquet")
    first = launched("inspect", "train.parquet")
    assert "train.parquet -> " in first.stderr and "(12 rows)" in first.stderr
    again = launched("inspect", "train.parquet")
    assert again.stderr == "" and again.stdout == first.stdout
    pq.write_table(pa.Table.from_pylist(TRAINING[:3]), "train.parquet")
    assert "(3 rows)" in launched("inspect", "train.parquet").stderr
    assert launched("inspect", "train.parquet", "-q").stdout.count("\n") > 10
    none = launch("inspect", "train.parquet", env={**os.environ, "TANDEM_CACHE": ""})
    assert none.returncode == 2 and "TANDEM_CACHE names one" in none.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_while_a_table_is_read_leaves_nothing(folder, number, code):
    pq.write_table(pa.table({"text": [f"text {i}" for i in range(400_000)]}), "many.parquet")
    # A shell's background jobs, which tests may be, ignore SIGINT.
    child = subprocess.Popen([sys.executable, "-m", "tandem_program", "inspect", "many.parquet"],
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    kept = folder / "cache" / "parquet"
    while not list(kept.glob("*.tmp*")):
        assert child.poll() is None
        time.sleep(0.005)
    child.send_signal(number)
    assert child.wait(timeout=60) == code
    assert [file.suffix for file in kept.iterdir()] == [".lock"]


def recipe(model_folder, data):
    return (f'[model]\nbase = {json.dumps(model_folder)}\n[data]\ntrain = "{data}"\n[train]\nsteps = 2\nbatch = 4\n'
            '[objective]\nname = "infonce"\n')


@pytest.mark.parametrize("place", ["recipe", "set", "folder"])
def test_training_reads_parquet(model_folder, folder, place):
    datasets_folder = folder / "saved"
    pq.write_table(pa.Table.from_pylist(TRAINING), "train.parquet")
    Path("train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TRAINING))
    data = "train.parquet"
    if place == "folder":
        datasets = pytest.importorskip("datasets", reason="datasets is not installed")
        datasets.Dataset.from_list(TRAINING).save_to_disk(datasets_folder)
        data = str(datasets_folder)
    Path("lines.toml").write_text(recipe(model_folder, "train.jsonl"))
    launched("train", "lines.toml", "--output", "lines")
    Path("tables.toml").write_text(recipe(model_folder, "nosuch.jsonl" if place == "set" else data))
    given = ["--set", f"data.train={data}"] if place == "set" else []
    launched("train", "tables.toml", "--output", "tables", *given)
    weights = "model/model.safetensors"
    assert Path("tables", weights).read_bytes() == Path("lines", weights).read_bytes()
    # The same command resumes: the data have the same name and bytes.
    launched("train", "tables.toml", "--output", "tables", "--resume", *given)


def test_a_recipe_is_read_so_by_train_alone(model_folder, folder):
    pq.write_table(pa.Table.from_pylist(TRAINING), "train.parquet")
    Path("r.toml").write_text(recipe(model_folder, "train.parquet"))
    done = launch("report", "r.toml")
    assert done.returncode == 2 and "data.train is train.parquet, which only tandem train reads so" in done.stderr


def test_import_reads_parquet(folder):
    rows = [{"question": f"what is {word} number {i}?", "answer": f"{word} is a thing of kind {i}"}
            for i, word in enumerate(WORDS * 3)]
    pq.write_table(pa.Table.from_pylist(rows), "faq.parquet")
    Path("faq.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    launched("import", "faq.parquet", "-o", "from-parquet")
    launched("import", "faq.jsonl", "-o", "from-lines")
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/train.tsv", "qrels/test.tsv"):
        assert Path("from-parquet", name).read_bytes() == Path("from-lines", name).read_bytes()


def test_evaluate_reads_a_folder_of_corpus_queries_and_judgements(model_folder, model, folder):
    for name, rows in (("corpus", CORPUS), ("queries", [{"_id": "q", "text": "bread"}, {"_id": "r", "text": "rain"}])):
        os.makedirs(f"hub/{name}")
        pq.write_table(pa.Table.from_pylist(rows), f"hub/{name}/{name}-00000-of-00001.parquet")
    os.makedirs("hub/qrels")
    pq.write_table(pa.table({"query-id": ["q", "r"], "corpus-id": ["d0", "d5"], "score": [1, 1]}),
                   "hub/qrels/test-00000-of-00001.parquet")
    done = launched("evaluate", "--model", model_folder, "--dataset", "hub", "--measures", "mrr", "--format", "json")
    texts = [f"{row['title']} {row['text']}" if row["title"] else row["text"] for row in CORPUS]
    scores = model.encode_query(["bread", "rain"]) @ model.encode_document(texts).T
    run = {name: {row["_id"]: float(score) for row, score in zip(CORPUS, of_query)}
           for name, of_query in zip("qr", scores)}
    expected = tandem.evaluate(qrels={"q": {"d0": 1}, "r": {"d5": 1}}, run=run, measures="mrr")
    found = json.loads(done.stdout)
    assert str(round(expected["mrr"], 4)) in json.dumps(found)[:2000] or expected["mrr"] in _numbers(found)


def _numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for inner in value for number in _numbers(inner)]
    return [value] if isinstance(value, float) else []


@pytest.fixture
def index(model_folder, folder):
    launched("index", "build", model_folder, "corpus.parquet", "--output", "my.index", "--field", "year:number",
             "--field", "lang:string", "--kind", "fp32")
    launched("index", "remove", "my.index", "--id", "d3")
    return [row for row in CORPUS if row["_id"] != "d3"]


def test_an_index_is_exported_as_parquet(index, model):
    launched("index", "export", "my.index", "--to", "parquet", "--output", "i.parquet", "--with-texts")
    table = pq.read_table("i.parquet")
    assert table["id"].to_pylist() == [row["_id"] for row in index]
    assert table["year"].to_pylist() == [row["year"] for row in index]
    assert table["lang"].to_pylist() == [row["lang"] for row in index]
    texts = table["text"].to_pylist()
    assert texts[1] == f"Title 1 {index[1]['text']}"
    rows = np.stack(table["embedding"].to_numpy())
    np.testing.assert_allclose(rows, model.encode_document(texts), atol=1e-6)
    again = launch("index", "export", "my.index", "--to", "parquet", "--output", "i.parquet")
    assert again.returncode == 2 and "is there already; --force replaces it" in again.stderr
    broken = launch("index", "export", "nosuch.index", "--to", "parquet", "--output", "j.parquet")
    assert broken.returncode == 3 and not Path("j.parquet").exists()
    wrong = launch("index", "export", "my.index", "--to", "jsonl", "--output", "j.parquet")
    assert wrong.returncode == 2 and "--to is jsonl, and --output a Parquet file" in wrong.stderr


def test_faiss_reads_an_exported_index(index, model):
    faiss = pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    launched("index", "export", "my.index", "--to", "faiss", "--output", "my.faiss")
    ids = Path("my.ids.txt").read_text().splitlines()
    assert ids == [row["_id"] for row in index]
    read = faiss.read_index("my.faiss")
    assert type(read) is faiss.IndexFlatIP and read.ntotal == len(index) and read.d == 384
    queries = model.encode_query(WORDS)
    scores, rows = read.search(queries, 5)
    with tandem.Index.open("my.index") as opened:
        for hits, of_scores, of_rows in zip(opened.search(queries, k=5), scores, rows):
            assert [hit.id for hit in hits] == [ids[row] for row in of_rows]
            np.testing.assert_allclose([hit.score for hit in hits], of_scores, atol=1e-6)


def unescaped(field):
    """A field of COPY's text format, as PostgreSQL's documentation says how it is read."""
    if field == r"\N":
        return None
    signs = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
    read, left = "", iter(field)
    for sign in left:
        if sign == "\\":
            after = next(left)
            sign = signs.get(after, after)
        read += sign
    return read


def test_rows_for_pgvector_are_read_back_as_copy_reads_them(model_folder, folder):
    rows = [{"_id": "a\\b", "text": "tab\there\nand\r\\N\x0b\x08\x0c end \\", "lang": "\\N"},
            {"_id": "ü", "text": "plain", "lang": None}]
    Path("odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    launched("index", "build", model_folder, "odd.jsonl", "--output", "odd.index", "--field", "lang:string",
             "--kind", "fp32")
    done = launched("index", "export", "odd.index", "--to", "pgvector", "--output", "-", "--with-texts")
    read = [[unescaped(field) for field in line.split("\t")] for line in done.stdout.removesuffix("\n").split("\n")]
    assert [(row[0], row[2], row[3]) for row in read] == [(row["_id"], row["text"], row["lang"]) for row in rows]
    launched("index", "export", "odd.index", "--to", "jsonl", "--output", "odd.out")
    for row, line in zip(read, Path("odd.out").read_text().splitlines()):
        assert json.loads(row[1]) == json.loads(line)["embedding"]
    assert 'embedding vector(384), text text, "lang" text)' in done.stderr
