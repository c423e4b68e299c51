"""Indexes from Python: built, searched, changed and closed."""

import numpy as np
import pytest

import tandem_retrieval as tandem

DOCUMENTS = {
    "bread": "How to bake bread with sourdough.",
    "trains": "The night train to Vienna leaves at ten.",
    "stars": "A telescope shows the rings of Saturn.",
    "rain": "Clouds bring rain to the coast.",
}


@pytest.fixture
def index(model, tmp_path):
    with tandem.Index.build(tmp_path / "index", DOCUMENTS, model) as built:
        yield built


def test_finds_by_text_and_by_vector(index, model):
    hits = index.search("when does the train go?", k=2)
    assert hits[0].id == "trains"
    assert hits[0].text == DOCUMENTS["trains"]
    assert hits[0].probability is None
    assert len(hits) == 2
    vector = model.encode_query("when does the train go?")
    assert index.search(vector, k=2) == hits
    assert index.search([vector, vector], k=2) == [hits, hits]
    assert index.search(["when does the train go?"], k=2) == [hits]
    by_hand = model.similarity(vector, model.encode([DOCUMENTS["trains"]]))[0, 0]
    assert hits[0].score == pytest.approx(by_hand, abs=1e-6)


def test_more_hits_than_documents_are_all(index):
    assert len(index.search("when does the train go?", k=2**64 - 1)) == 4


def test_scores_cut_hits(index):
    hits = index.search("when does the train go?")
    assert len(hits) == 4
    assert index.search("when does the train go?", min_score=hits[1].score) == hits[:2]


def test_filters_and_metadata(model, tmp_path):
    documents = [
        ("a", "A page on cats.", {"lang": "en", "year": 2019}),
        {"id": "b", "title": "Cats", "text": "Another page on cats.", "lang": "en", "year": 2024},
        {"id": "c", "text": "Eine Seite über Katzen.", "metadata": {"lang": "de"}},
    ]
    index = tandem.Index.build(tmp_path / "index", iter(documents), model, fields={"lang": "string", "year": "number"})
    assert {hit.id for hit in index.search("cats")} == {"a", "b", "c"}
    assert [hit.id for hit in index.search("cats", filter={"lang": "en", "year": {">=": 2020}})] == ["b"]
    hit = index.search("cats", filter={"lang": "de"})[0]
    assert hit.metadata == {"lang": "de"}
    titled = index.search("cats", filter={"year": 2024})[0]
    assert (titled.title, titled.text) == ("Cats", "Cats Another page on cats.")
    with pytest.raises(tandem.UsageError, match="colour"):
        index.search("cats", filter={"colour": "red"})


def test_add_update_and_remove(index):
    assert index.add([("cars", "An electric car has no exhaust.")]) == 5
    assert index.search("electric cars", k=1)[0].id == "cars"
    with pytest.raises(tandem.DataError, match="cars") as caught:
        index.add({"cars": "again"})
    assert caught.value.exit_code == 3
    assert index.add({"cars": "Cars have wheels."}, update=True) == 5
    assert index.search("electric cars", k=1)[0].text == "Cars have wheels."
    assert index.remove(["cars", "rain"]) == 2
    assert len(index) == 3
    with pytest.raises(tandem.DataError, match="nosuch"):
        index.remove("nosuch")
    assert index.remove("nosuch", ignore_missing=True) == 0


def test_an_index_is_the_programs(index, program, tmp_path):
    import json
    import subprocess

    done = subprocess.run([program, "search", index.folder, "when does the train go?", "--top-k", "2",
                           "--format", "json"], check=True, capture_output=True, text=True)
    assert f'"{index.search("when does the train go?", k=2)[0].id}"' in done.stdout
    json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["fp32", "int8", "hnsw"])
def test_kinds(model, tmp_path, kind):
    index = tandem.Index.build(tmp_path / "index", DOCUMENTS, model, kind=kind)
    assert index.info["kind"] == kind
    assert index.search("baking", k=1)[0].id == "bread"


def test_a_closed_index_says_so(index):
    index.close()
    index.close()
    assert index.closed
    assert "closed" in repr(index)
    for use in (lambda: index.search("a"), lambda: index.add({}), lambda: index.remove("a"), lambda: len(index)):
        with pytest.raises(tandem.UsageError, match="is closed"):
            use()


def test_bad_documents_leave_no_index(model, tmp_path):
    folder = tmp_path / "index"
    for documents, error, words in [
        ([("a", "x"), ("a", "y")], tandem.DataError, "a"),
        ([("a", None)], TypeError, r"documents\[0\]: its text is of the type NoneType; expected str"),
        ([("a", b"bytes")], TypeError, r"documents\[0\]: its text is of the type bytes"),
        ([(1, "x")], TypeError, r"documents\[0\]: its id is of the type int"),
        (["a", "b"], TypeError, r"documents\[0\] is of the type str"),
        ([("", "x")], tandem.DataError, "empty id"),
        ("text", TypeError, "documents is of the type str"),
        ([], tandem.DataError, "document"),
    ]:
        with pytest.raises(error, match=words):
            tandem.Index.build(folder, documents, model)
        with pytest.raises(tandem.Error):
            tandem.Index.open(folder)


def test_what_an_iterator_raises_comes_through(model, tmp_path):
    class Broken(Exception):
        pass

    def documents():
        yield "a", "text"
        raise Broken("in the middle")

    with pytest.raises(Broken, match="in the middle"):
        tandem.Index.build(tmp_path / "index", documents(), model)


@pytest.mark.parametrize(("queries", "error", "words"), [
    (np.zeros((1, 3), np.float32), tandem.UsageError, r"queries have the shape \[1, 3\]; expected \[any, 384\]"),
    (np.full((1, 384), np.nan, np.float32), tandem.NumericError, r"queries\[0\] has a number that is not finite"),
    (np.zeros((1, 384), np.int32), TypeError, "queries has the dtype int32"),
    (np.zeros((1, 1, 384), np.float32), tandem.UsageError, "expected"),
    (None, TypeError, "queries is of the type NoneType"),
    ([b"bytes"], TypeError, "queries"),
    (b"bytes", TypeError, "queries is of the type bytes"),
])
def test_bad_queries(index, queries, error, words):
    with pytest.raises(error, match=words):
        index.search(queries)


def test_bad_options(index):
    for k in (0, -1, 2.5, None, True):
        with pytest.raises(tandem.UsageError, match="k is"):
            index.search("a", k=k)
    with pytest.raises(tandem.UsageError, match="probabilities"):
        index.search("a", min_probability=0.5)


def test_a_broken_index_is_a_data_error(index, tmp_path):
    file = next(path for path in (tmp_path / "index").rglob("vectors.f32"))
    data = bytearray(file.read_bytes())
    data[5] ^= 1
    index.close()
    file.unlink()
    file.write_bytes(data)
    with pytest.raises(tandem.DataError):
        tandem.Index.open(tmp_path / "index")
