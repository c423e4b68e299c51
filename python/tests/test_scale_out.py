"""The examples of docs/scale-out.md, with the real packages where they are installed: equal to one process."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tandem_retrieval as tandem

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'tandem-retrieval[parquet]'")
pq = pytest.importorskip("pyarrow.parquet")

from tandem_retrieval import parquet  # noqa: E402 - after what it needs

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "scale-out.md").read_text()


def example(title):
    """The one block of Python below a heading of the page."""
    section = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)[1]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    return code


def require(*packages):
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed")


def run(code, folder, seconds=600):
    script = folder / "example.py"
    script.write_text(code)
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=folder, timeout=seconds,
                          env=env)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.fixture
def folder(model_folder, tmp_path):
    (tmp_path / "models").mkdir()
    os.symlink(model_folder, tmp_path / "models" / "all-MiniLM-L6-v2")
    return tmp_path


def write_corpus(folder, texts):
    """A folder of three files with several row groups, in another order than the ids'."""
    (folder / "corpus").mkdir()
    ids = [f"d{i}" for i in range(len(texts))]
    step = -(-len(texts) // 3)
    for part, begin in enumerate(range(0, len(texts), step)):
        table = pa.table({"id": ids[begin : begin + step], "text": texts[begin : begin + step], "rank": [part] * len(
            ids[begin : begin + step])})
        pq.write_table(table, folder / "corpus" / f"part-{2 - part:05}.parquet", row_group_size=100)
    return ids


def check_encoded(folder, model, ids, texts):
    found = {}
    for file in sorted((folder / "embeddings").glob("*.parquet")):
        table = pq.read_table(file)
        for id, row in zip(table["id"].to_pylist(), table["embedding"].to_pylist()):
            assert id not in found
            found[id] = np.array(row, np.float32).ravel()
    assert found.keys() == set(ids)
    rows = np.stack([found[id] for id in ids])
    expected = model.encode_document(texts)
    assert rows.shape == expected.shape
    # One process encodes other texts together, which changes rounding alone.
    assert np.abs(rows - expected).max() < 1e-6


@pytest.mark.parametrize(("title", "packages"), [("Ray Data", ("ray",)), ("Spark", ("pyspark", "pandas"))])
def test_two_workers_encode_what_one_process_does(model, folder, texts, title, packages):
    require(*packages)
    if title == "Spark" and shutil.which("java") is None:
        pytest.skip("Spark takes Java, and there is none")
    chosen = [text or "a text" for text in texts[-700:]]
    ids = write_corpus(folder, chosen)
    run(example(title), folder)
    check_encoded(folder, model, ids, chosen)


@pytest.fixture
def vectors_of_length_one(folder):
    random = np.random.default_rng(7)
    rows = random.normal(size=(10_000, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    parquet.write_embeddings(folder / "embeddings.parquet", (f"d{i}" for i in range(len(rows))), rows)
    queries = rows[::500] + random.normal(size=(20, 384)).astype(np.float32) * 0.05
    np.save(folder / "queries.npy", queries)
    best = np.argsort(-(queries.astype(np.float64) @ rows.T.astype(np.float64)), axis=1)[:, :10]
    return [[f"d{row}" for row in of_query] for of_query in best]


@pytest.mark.parametrize(("title", "package"), [("Qdrant", "qdrant_client"), ("LanceDB", "lancedb")])
def test_other_systems_find_the_same_documents(folder, vectors_of_length_one, title, package):
    require(package)
    ask = ("\nimport json, numpy\n"
           "print(json.dumps([search(query.tolist(), 10) for query in numpy.load('queries.npy')]))\n")
    assert json.loads(run(example(title) + ask, folder).splitlines()[-1]) == vectors_of_length_one


def test_faiss_finds_what_the_index_finds(folder, model):
    require("faiss")
    ends = ("to Vienna", "at ten", "in May", "x")
    texts = [f"{word} {end}" for word in ("train", "bread", "rain") for end in ends]
    documents = {f"d{i}": text for i, text in enumerate(texts)}
    with tandem.Index.build(folder / "mine.index", documents, model, kind="fp32") as index:
        expected = [hit.id for hit in index.search("when does the train go?", k=10)]
    done = subprocess.run([sys.executable, "-m", "tandem_program", "index", "export", "mine.index", "--to", "faiss",
                           "--output", "mine.faiss"], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert run(example("FAISS") + "\nprint(' '.join(found))\n", folder).split() == expected
