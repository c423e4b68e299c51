"""Indexes from Python: built, searched, changed and closed."""

import shutil

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
    with pytest.raises(TypeError, match=r"ids\[1\] is of the type int; expected str"):
        index.remove(["stars", 3])


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
        assert not folder.exists()


def test_what_an_iterator_raises_comes_through(model, tmp_path):
    class Broken(Exception):
        pass

    def documents():
        yield "a", "text"
        raise Broken("in the middle")

    with pytest.raises(Broken, match="in the middle"):
        tandem.Index.build(tmp_path / "index", documents(), model)


@pytest.mark.parametrize(("queries", "error", "words"), [
    (np.ones((1, 3), np.float32), tandem.UsageError, r"queries have the shape \[1, 3\]; expected \[any, 384\]"),
    (np.full((1, 384), np.nan, np.float32), tandem.NumericError, r"queries\[0\] has a number that is not finite"),
    (np.zeros((1, 384), np.int32), TypeError, "queries has the dtype int32"),
    (np.zeros((1, 1, 384), np.float32), tandem.UsageError, "expected"),
    (None, TypeError, "queries is of the type NoneType"),
    ([b"bytes"], TypeError, "queries"),
    (b"bytes", TypeError, "queries is of the type bytes"),
    (np.eye(2, 384, 1)[::-1] * [[1], [0]], tandem.UsageError, r"queries\[1\] is zero in all its numbers"),
    ([[1.0], [1.0, 2.0]], tandem.UsageError, "queries has rows of different lengths"),
    (np.ma.masked_array(np.ones(384), np.ones(384)), TypeError, "queries is a masked array"),
    (np.full((1, 384), 1e300), tandem.NumericError, "queries has a number that is larger than those of float32"),
    (["a", 3], TypeError, r"queries\[1\] is of the type int; expected str"),
    (np.array([b"bytes"]), TypeError, "queries has the dtype .S5; expected floating"),
])
def test_bad_queries(index, queries, error, words):
    with pytest.raises(error, match=words):
        index.search(queries)


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"k": 0}, tandem.UsageError, "k is 0; expected a whole number of 1 or more"),
    ({"k": -1}, tandem.UsageError, "k is -1"),
    ({"k": 2.5}, TypeError, "k is of the type float; expected a whole number"),
    ({"k": None}, TypeError, "k is of the type NoneType"),
    ({"k": True}, TypeError, "k is of the type bool"),
    ({"k": 10**400}, tandem.UsageError, "k is a number of 1329 bits; expected a whole number from 1 to"),
    ({"min_probability": 0.5}, tandem.UsageError, "probabilities"),
    ({"min_probability": 1.5}, tandem.UsageError, "min_probability is 1.5; expected a number from 0 to 1"),
    ({"min_probability": float("nan")}, tandem.UsageError, "min_probability is nan"),
    ({"min_score": float("nan")}, tandem.UsageError, "min_score is nan; expected a number"),
    ({"min_score": "0.5"}, TypeError, "min_score is of the type str; expected a number"),
    ({"effort": -1}, tandem.UsageError, "effort is -1"),
    ({"filter": ""}, TypeError, "filter is of the type str; expected a dict"),
    ({"filter": []}, TypeError, "filter is of the type list; expected a dict"),
    ({"filter": {"a": {1, 2}}}, TypeError, "filter is .* found set"),
    ({"filter": {3: 1}}, TypeError, "a name of filter is of the type int"),
    ({"filter": {"a": float("nan")}}, tandem.UsageError, "filter is .* not finite"),
    ({"prompt": 3}, TypeError, "prompt is of the type int"),
    ({"precision": 3}, TypeError, "precision is of the type int"),
])
def test_bad_options(index, options, error, words):
    with pytest.raises(error, match=words):
        index.search("a", **options)


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"fields": ["lang"]}, TypeError, "fields is of the type list; expected a dict as"),
    ({"fields": {"lang": "text"}}, tandem.UsageError, r"fields\['lang'\] is 'text'; expected \"string\" or \"number\""),
    ({"fields": {"a\0b": "string"}}, tandem.UsageError, "a name of fields is .* zero byte"),
    ({"fields": {3: "string"}}, TypeError, "a name of fields is of the type int"),
    ({"kind": 3}, TypeError, "kind is of the type int"),
    ({"recall": 2}, tandem.UsageError, "recall is 2; expected a number from 0 to 1"),
    ({"memory": -1}, tandem.UsageError, "memory is -1"),
    ({"memory": 10**400}, tandem.UsageError, "memory is a number of 1329 bits"),
    ({"texts": None}, TypeError, "texts is of the type NoneType; expected True or False"),
    ({"min_probability": -0.1}, tandem.UsageError, "min_probability is -0.1"),
    ({"replace": "yes"}, TypeError, "replace is of the type str"),
    ({"folder": ""}, tandem.UsageError, "folder is empty"),
    ({"folder": b"a"}, TypeError, "folder is of the type bytes; expected str or a path"),
    ({"model": 3}, TypeError, "model is of the type int; expected str or a path"),
    ({"documents": [("a", "b", 3)]}, TypeError, r"documents\[0\]: its metadata is of the type int; expected a dict or None"),
    ({"documents": [("a", "b", {"year": "x"})]}, TypeError, r"documents\[0\]: year is of the type str; expected a number"),
    ({"documents": [("a", "b", {"year": 10**400})]}, tandem.NumericError, r"documents\[0\]: year is larger"),
])
def test_bad_options_of_building(model, tmp_path, options, error, words):
    given = {"folder": tmp_path / "index", "documents": DOCUMENTS, "model": model, "fields": {"year": "number"}}
    with pytest.raises(error, match=words):
        tandem.Index.build(**{**given, **options})
    assert list(tmp_path.iterdir()) == []


def test_metadata_may_be_none(model, tmp_path):
    index = tandem.Index.build(tmp_path / "index", [("a", "b", None), {"id": "c", "text": "d", "metadata": None}], model,
                               fields={"year": "number"})
    assert [hit.metadata for hit in index.search("b")] == [{}, {}]
    assert len(index.search("b", filter={})) == 2
    assert index.search("b", filter={"year": {">": np.int64(3)}}) == []


def test_texts_in_arrays(index):
    expected = [index.search("when does the train go?"), index.search("bread")]
    for dtype in (None, object):
        assert index.search(np.array(["when does the train go?", "bread"], dtype)) == expected
    pandas = pytest.importorskip("pandas")
    assert index.search(pandas.Series(["when does the train go?", "bread"])) == expected


def test_the_length_of_a_vector_does_not_count_for_cosines(index, model):
    vector = model.encode_query("when does the train go?")
    expected = index.search(vector)
    for scale in (1e-30, 0.01, 7, 1e30):
        found = index.search(scale * vector)
        assert [hit.id for hit in found] == [hit.id for hit in expected]
        np.testing.assert_allclose([hit.score for hit in found], [hit.score for hit in expected], atol=1e-6)


def test_scores_of_a_model_without_normalize_are_cosines(tiny_model, tmp_path):
    model = tandem.Model(tiny_model)
    assert model.similarity_name == "cosine" and abs(np.linalg.norm(model.encode_query("bread")) - 1) > 0.1
    index = tandem.Index.build(tmp_path / "index", DOCUMENTS, model)
    for hit in index.search("bread"):
        expected = model.similarity(model.encode_query("bread"), model.encode_document(DOCUMENTS[hit.id]))[0, 0]
        assert hit.score == pytest.approx(expected, abs=1e-5)


def test_vectors_have_probabilities_where_the_model_was_given(tiny_model, beir, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    tandem.calibrate(folder, beir, method="platt")
    model = tandem.Model(folder)
    built = tandem.Index.build(tmp_path / "index", DOCUMENTS, model)
    vector = model.encode_query("bread")
    probabilities = [hit.probability for hit in built.search("bread")]
    assert None not in probabilities
    assert [hit.probability for hit in built.search(vector)] == pytest.approx(probabilities)
    opened = tandem.Index.open(tmp_path / "index")
    for _ in range(2):  # before a search for a text and after it
        assert {hit.probability for hit in opened.search(vector)} == {None}
        assert [hit.probability for hit in opened.search("bread")] == probabilities
    with_model = tandem.Index.open(tmp_path / "index", model=folder)
    assert [hit.probability for hit in with_model.search(vector)] == pytest.approx(probabilities)
    assert opened.search(vector, min_probability=0)[0].probability == pytest.approx(probabilities[0])


def test_what_fails_leaves_an_index_as_it_was(index, tmp_path):
    def files():
        return {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def documents():
        yield "cars", "An electric car has no exhaust."
        raise ValueError("in the middle")

    before = files()
    with pytest.raises(ValueError, match="in the middle"):
        index.add(documents())
    with pytest.raises(ValueError, match="in the middle"):
        tandem.Index.build(index.folder, documents(), index.model, replace=True)
    with pytest.raises(tandem.UsageError, match="is an index already; replace=True builds it anew"):
        tandem.Index.build(index.folder, DOCUMENTS, index.model)
    assert files() == before
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ValueError, match="in the middle"):
        tandem.Index.build(empty, documents(), index.model)
    assert list(empty.iterdir()) == []


def test_a_broken_index_is_a_data_error(index, tmp_path):
    file = next(path for path in (tmp_path / "index").rglob("vectors.f32"))
    data = bytearray(file.read_bytes())
    data[5] ^= 1
    index.close()
    file.unlink()
    file.write_bytes(data)
    with pytest.raises(tandem.DataError):
        tandem.Index.open(tmp_path / "index")
