"""Measures of dicts and of models are those of the program and of pytrec_eval."""

import json
import subprocess

import numpy as np
import pytest

import tandem_retrieval as tandem

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d2": 1}}
RUN = {"q1": {"d1": 0.9, "d2": 0.8, "d4": 0.7, "d3": 0.1}, "q2": {"d1": 3.0, "d2": 2.5}}


def test_values_by_hand():
    found = tandem.evaluate(qrels=QRELS, run=RUN, measures="mrr,precision@2,ndcg@2,auc")
    assert found.queries == ["q1", "q2"]
    np.testing.assert_allclose(found.per_query["mrr"], [1, 0.5])
    np.testing.assert_allclose(found.per_query["precision@2"], [0.5, 0.5])
    ideal = 2 + 1 / np.log2(3)
    np.testing.assert_allclose(found.per_query["ndcg@2"], [1 / ideal, 1 / np.log2(3)])
    assert found["mrr"] == found.means["mrr"] == 0.75
    assert len(found.per_query["auc"]) == 0
    assert "auc" not in found.intervals


def test_intervals_hold_the_mean_and_depend_on_the_seed_alone():
    random = np.random.default_rng(2)
    qrels = {f"q{q}": {"d0": 1} for q in range(60)}
    run = {query: {f"d{d}": float(score) for d, score in enumerate(random.normal(size=5))} for query in qrels}
    one, again = (tandem.evaluate(qrels=qrels, run=run, measures=["mrr"], seed=7) for _ in range(2))
    other = tandem.evaluate(qrels=qrels, run=run, measures=["mrr"], seed=8)
    low, high = one.intervals["mrr"]
    assert low < one["mrr"] < high
    assert one.intervals == again.intervals != other.intervals
    spread = np.std(one.per_query["mrr"]) / np.sqrt(60)
    assert (high - low) / 2 == pytest.approx(1.96 * spread, rel=0.1)


def test_repr_is_a_short_table():
    text = repr(tandem.evaluate(qrels=QRELS, run=RUN, measures="mrr,ndcg@10"))
    lines = text.splitlines()
    assert lines[0].split() == ["measure", "mean", "95", "%", "interval"]
    assert lines[1].startswith("mrr      0.7500  0.5000 to 1.0000")
    assert lines[3] == "2 queries"


def test_agrees_with_pytrec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    random = np.random.default_rng(3)
    documents = [f"d{d}" for d in range(50)]
    qrels = {f"q{q}": {d: int(g) for d, g in zip(documents[:20], random.integers(0, 3, 20))} for q in range(40)}
    run = {q: {d: float(s) for d, s in zip(documents, random.integers(0, 9, 50))} for q in qrels}  # with ties
    names = {"map": "map", "ndcg@10": "ndcg_cut_10", "recall@5": "recall_5", "precision@5": "P_5", "mrr": "recip_rank"}
    asked = {"map", "ndcg_cut.10", "recall.5", "P.5", "recip_rank"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    ours = tandem.evaluate(qrels=qrels, run=run, measures=list(names), score_precision="single")
    for name, their_name in names.items():
        np.testing.assert_allclose(ours.per_query[name], [theirs[q][their_name] for q in ours.queries], atol=1e-12)


def test_numbers_of_other_types_and_mappings():
    from collections import OrderedDict
    from types import MappingProxyType

    run = MappingProxyType({q: OrderedDict((d, np.float32(s)) for d, s in of.items()) for q, of in RUN.items()})
    qrels = {q: {d: np.int64(g) for d, g in of.items()} for q, of in QRELS.items()}
    found = tandem.evaluate(qrels=qrels, run=run, measures="mrr")
    assert found["mrr"] == 0.75


@pytest.mark.parametrize(("change", "error", "words"), [
    ({"run": {"q1": {"d1": float("nan")}}}, tandem.NumericError, "q1|d1"),
    ({"run": {"q1": {"d1": "0.5"}}}, TypeError, r'run\["q1"\]\["d1"\] is of the type str; expected a number'),
    ({"run": {"q1": {"d1": None}}}, TypeError, "NoneType"),
    ({"run": {"q1": [("d1", 0.5)]}}, TypeError, r'run\["q1"\] must be a dict, found list'),
    ({"run": {1: {"d1": 0.5}}}, TypeError, "a key of run is of the type int"),
    ({"run": {b"q1": {"d1": 0.5}}}, TypeError, "a key of run is of the type bytes"),
    ({"run": {"q1": {3: 0.5}}}, TypeError, "is of the type int"),
    ({"run": [1]}, TypeError, "run is of the type list"),
    ({"run": {"q9": {"d1": 0.5}}}, tandem.DataError, "none of its 1 queries"),
    ({"qrels": {"q1": {"d1": float("inf")}}}, tandem.DataError, "the grade of query q1 is inf"),
    ({"qrels": None}, tandem.UsageError, "both qrels and run"),
    ({"measures": "ndgc@10"}, tandem.UsageError, "did you mean ndcg@10"),
    ({"measures": []}, tandem.UsageError, "measure"),
    ({"measures": [3]}, TypeError, "measures has a int"),
    ({"relevance_level": 0}, tandem.UsageError, "level"),
    ({"score_precision": "half"}, tandem.UsageError, "expected single or double"),
    ({"score_precision": None}, TypeError, "score_precision is of the type NoneType; expected str"),
    ({"run": {"q1": {"d1": 10**400}}}, tandem.NumericError, r'run\["q1"\]\["d1"\] is larger than numbers of double'),
    ({"run": {"q1": {"\ud800": 1.0}}}, tandem.UsageError, r'a key of run\["q1"\] has half of a surrogate pair'),
    ({"qrels": {"\ud800": {}}}, tandem.UsageError, "a key of qrels has half of a surrogate pair"),
    ({"measures": None}, TypeError, "measures is of the type NoneType; expected names separated by commas"),
    ({"measures": b"mrr"}, TypeError, "measures is of the type bytes"),
    ({"relevance_level": "1"}, TypeError, "relevance_level is of the type str; expected a number"),
    ({"max_results": -1}, tandem.UsageError, "max_results is -1; expected a whole number of 0 or more"),
    ({"max_results": 2.5}, TypeError, "max_results is of the type float"),
    ({"complete": "no"}, TypeError, "complete is of the type str; expected True or False"),
    ({"confidence": 1}, tandem.UsageError, "confidence is 1; expected a number between 0 and 1"),
    ({"confidence": float("nan")}, tandem.UsageError, "confidence is nan"),
    ({"resamples": 0}, tandem.UsageError, "resamples is 0; expected a whole number of 1 or more"),
    ({"resamples": 10**12}, tandem.UsageError, "resamples is 1000000000000; expected a whole number from 1 to 1"),
    ({"seed": -1}, tandem.UsageError, "seed is -1"),
    ({"seed": "x"}, TypeError, "seed is of the type str"),
])
def test_bad_arguments(change, error, words):
    with pytest.raises(error, match=words):
        tandem.evaluate(**{"qrels": QRELS, "run": RUN, "measures": "mrr", **change})


def test_what_a_score_raises_itself_is_raised():
    class Score:
        def __float__(self):
            raise ZeroDivisionError("of the score")

    with pytest.raises(ZeroDivisionError, match="of the score"):
        tandem.evaluate(qrels=QRELS, run={"q1": {"d1": Score()}}, measures="mrr")


def test_a_query_that_found_nothing_counts_as_with_pytrec_eval():
    run = {"q1": RUN["q1"], "q2": {}, "q9": {}}
    found = tandem.evaluate(qrels={**QRELS, "q3": {"d1": 1}}, run=run, measures="mrr,ndcg@10")
    assert found.queries == ["q1", "q2"]  # q3 is not in the run, q9 is not judged
    np.testing.assert_array_equal(found.per_query["mrr"], [1, 0])
    assert found["mrr"] == 0.5
    assert tandem.evaluate(qrels=QRELS, run={"q1": {}}, measures="mrr")["mrr"] == 0
    pytrec_eval = pytest.importorskip("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator({**QRELS, "q3": {"d1": 1}}, {"recip_rank", "ndcg_cut.10"}).evaluate(run)
    assert {query: of["recip_rank"] for query, of in theirs.items()} == {"q1": 1, "q2": 0}
    assert theirs["q2"]["ndcg_cut_10"] == found.per_query["ndcg@10"][1] == 0


def test_dicts_without_names_are_refused_since_peers_order_them_differently():
    with pytest.raises(tandem.UsageError, match="dicts are given by name"):
        tandem.evaluate(QRELS, RUN, "mrr")


def write_data(folder):
    folder.mkdir()
    topics = ["trains and stations", "bread and baking", "stars and planets", "rain and clouds"]
    with (folder / "corpus.jsonl").open("w") as corpus, (folder / "queries.jsonl").open("w") as queries:
        for i, topic in enumerate(topics):
            corpus.write(json.dumps({"_id": f"d{i}", "title": topic, "text": f"A page on {topic}."}) + "\n")
            queries.write(json.dumps({"_id": f"q{i}", "text": f"what of {topic.split()[0]}?"}) + "\n")
    (folder / "qrels").mkdir()
    lines = "".join(f"q{i}\td{i}\t1\n" for i in range(4))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + lines)


def test_a_model_on_a_data_set_is_measured_as_by_the_program(program, model, model_folder, tmp_path):
    write_data(tmp_path / "data")
    found = tandem.evaluate(model, tmp_path / "data", "ndcg@10,mrr,auc")
    done = subprocess.run([program, "evaluate", "--model", model_folder, "--dataset", str(tmp_path / "data"),
                           "--measures", "ndcg@10,mrr,auc", "--format", "json", "--no-cache"],
                          check=True, capture_output=True, text=True)
    expected = json.loads(done.stdout)
    text = json.dumps(expected)
    for name in ("ndcg@10", "mrr", "auc"):
        assert f"{found[name]}".rstrip("0").rstrip(".") in text, (name, found[name], text)
    assert found.queries == ["q0", "q1", "q2", "q3"]


@pytest.mark.parametrize(("change", "error", "words"), [
    ({"data": ""}, tandem.UsageError, "data is empty; expected a path"),
    ({"data": b"x"}, TypeError, "data is of the type bytes; expected str or a path"),
    ({"model": 3}, TypeError, "model is of the type int; expected str or a path"),
    ({"model": ""}, tandem.UsageError, "model is empty"),
    ({"split": None}, TypeError, "split is of the type NoneType; expected str"),
    ({"data": "a\0b"}, tandem.UsageError, "data is .* zero byte"),
])
def test_bad_arguments_of_a_model_and_its_data(model, change, error, words):
    with pytest.raises(error, match=words):
        tandem.evaluate(**{"model": model, "data": "d", **change})


def test_a_mistake_in_data_names_file_and_line(model, tmp_path):
    write_data(tmp_path / "data")
    corpus = tmp_path / "data" / "corpus.jsonl"
    corpus.write_text(corpus.read_text() + '{"_id": 7}\n')
    with pytest.raises(tandem.DataError) as caught:
        tandem.evaluate(model, tmp_path / "data", "mrr")
    assert caught.value.file == str(corpus)
    assert caught.value.line == 5
    assert caught.value.exit_code == 3
    assert str(caught.value).startswith(f"{corpus}:5: ")
