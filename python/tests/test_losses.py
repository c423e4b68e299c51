"""Objectives have the reference values and gradients, and refuse arrays that are none."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tandem_retrieval as tandem
from tandem_retrieval import losses

ROOT = Path(__file__).resolve().parents[2]
RANDOM = np.random.default_rng(1)
QUERIES, DOCUMENTS = RANDOM.normal(size=(4, 8)), RANDOM.normal(size=(6, 8))


def arguments_of(case):
    parameters = {name: value for name, value in (case.get("parameters") or {}).items() if value is not None}
    arrays = {name: np.asarray(case[name]) for name in ("positive", "relevance", "teacher", "weights")
              if case.get(name) is not None}
    masks = {name: np.asarray(case[name]).astype(bool)
             for name in ("labelled", "negative_mask", "query_mask", "document_mask") if case.get(name) is not None}
    return {**arrays, **masks, **parameters}


def test_reference_vectors(vectors):
    seen = set()
    for file in sorted(vectors.glob("*.json")):
        for case in json.loads(file.read_text()):
            function = getattr(losses, case["objective"])
            found = function(np.asarray(case["queries"]), np.asarray(case["documents"]), **arguments_of(case))
            assert found.value == pytest.approx(case["loss"], abs=1e-6)
            np.testing.assert_allclose(found.grad_queries, case["grad_queries"], atol=1e-6)
            np.testing.assert_allclose(found.grad_documents, case["grad_documents"], atol=1e-6)
            seen.add(case["objective"])
    assert seen == set(losses.__all__) - {"Loss", "evaluate"}


def test_gradients_are_those_of_central_differences():
    found = losses.infonce(QUERIES, DOCUMENTS, temperature=0.5)
    step = 1e-5
    for row, column in [(0, 0), (3, 7), (1, 4)]:
        up, down = QUERIES.copy(), QUERIES.copy()
        up[row, column] += step
        down[row, column] -= step
        slope = (losses.infonce(up, DOCUMENTS, temperature=0.5).value
                 - losses.infonce(down, DOCUMENTS, temperature=0.5).value) / (2 * step)
        assert found.grad_queries[row, column] == pytest.approx(slope, abs=1e-8)


def test_by_default_all_but_the_paired_document_are_negatives():
    positive = np.array([2, 0, 5, 1])
    mask = np.ones((4, 6), bool)
    mask[np.arange(4), positive] = False
    for function in (losses.mann_whitney, losses.infonce, losses.pair):
        stated = function(QUERIES, DOCUMENTS, positive, negative_mask=mask, query_mask=~np.eye(4, dtype=bool),
                          document_mask=~np.eye(4, dtype=bool))
        np.testing.assert_array_equal(function(QUERIES, DOCUMENTS, positive).grad_queries, stated.grad_queries)
    with_own = losses.mann_whitney(QUERIES, DOCUMENTS, positive, negative_mask=np.ones((4, 6), bool))
    assert with_own.value != losses.mann_whitney(QUERIES, DOCUMENTS, positive).value


def test_float32_gives_float32_gradients_and_any_layout_is_read():
    one = losses.infonce(QUERIES.astype(np.float32), DOCUMENTS.astype(np.float32))
    assert one.grad_queries.dtype == one.grad_documents.dtype == np.float32
    assert one.losses.shape == (4,)
    columns_first = losses.infonce(np.asfortranarray(QUERIES), DOCUMENTS[::-1][::-1])
    np.testing.assert_array_equal(columns_first.grad_queries, losses.infonce(QUERIES, DOCUMENTS).grad_queries)


def test_a_function_is_described_by_its_catalogue_entry():
    assert losses.infonce.__name__ == "infonce"
    assert "temperature: divides scores before the softmax (default 0.05, from 0.0001 to 10" in losses.infonce.__doc__
    assert "Source: " in losses.mann_whitney.__doc__


def test_the_stub_is_what_the_catalogue_makes():
    tool = ROOT / "tools" / "python" / "losses_stub.py"
    done = subprocess.run([sys.executable, tool], check=True, capture_output=True, text=True)
    stub = Path(losses.__file__).with_suffix(".pyi").read_text()
    assert stub == done.stdout, "tools/python/losses_stub.py > python/tandem_retrieval/losses.pyi"


@pytest.mark.parametrize(("change", "error", "words"), [
    ({"queries": QUERIES.astype(np.int64)}, TypeError, "queries has the dtype int64; expected float32 or float64"),
    ({"queries": QUERIES.astype(np.float32)}, TypeError, "expected one dtype"),
    ({"queries": None}, TypeError, "queries has the dtype object"),
    ({"queries": [["a"]]}, TypeError, "queries has the dtype"),
    ({"queries": QUERIES[0]}, tandem.UsageError, "queries has 1 dimensions; expected a matrix"),
    ({"queries": QUERIES[:0]}, tandem.UsageError, r"queries has the shape \[0, 8\]"),
    ({"documents": DOCUMENTS[:, :5]}, tandem.UsageError,
     r"documents has the shape \[6, 5\]; expected \[1 or more, 8\]"),
    ({"positive": [0, 1, 2]}, tandem.UsageError, "positive must be a list of 4 numbers"),
    ({"positive": [0, 1, 2, 6]}, tandem.UsageError, "positive must name columns from 0 to 5, found 6"),
    ({"positive": [0, 1, 2, -1]}, tandem.UsageError, "found -1"),
    ({"positive": [0.0, 1, 2, 3]}, TypeError, "positive has the dtype float64; expected whole numbers"),
    ({"negative_mask": np.ones((4, 5), bool)}, tandem.UsageError, r"negative_mask has the shape \[4, 5\]"),
    ({"negative_mask": np.full((4, 6), 0.5)}, TypeError, "negative_mask has the dtype float64"),
    ({"negative_mask": np.full((4, 6), 2)}, TypeError, "negative_mask"),
    ({"weights": [1, 1, 1, -1]}, tandem.UsageError, "weights must be 0 or more, found -1"),
    ({"temperature": 0}, tandem.UsageError, "temperature must be from 0.0001 to 10"),
    ({"temperatur": 1}, tandem.UsageError, "temperatur is unknown for the objective infonce; did you mean temperature"),
    ({"temperature": [1]}, TypeError, "temperature is of the type list"),
    ({"queries": np.full((4, 8), np.nan)}, tandem.NumericError, "not finite|nan"),
    ({"documents": np.full((6, 8), np.inf)}, tandem.NumericError, "not finite|nan|inf"),
    ({"queries": np.ma.masked_array(QUERIES, QUERIES > 0)}, TypeError, "queries is a masked array"),
    ({"weights": np.ma.masked_array([1.0] * 4, [True] * 4)}, TypeError, "weights is a masked array"),
    ({"documents": [[1.0], [1.0, 2.0]]}, tandem.UsageError, "documents has rows of different lengths"),
    ({"bank_positives": [0.5]}, tandem.UsageError, "bank_positives are scores of earlier batches, which the objective "
                                                  "infonce does not compare with"),
    ({"temperature": 10**400}, tandem.UsageError, "temperature is a number of 1329 bits"),
    ({"directions": "a\0"}, tandem.UsageError, "directions is .* zero byte"),
])
def test_bad_arguments(change, error, words):
    given = {"queries": QUERIES, "documents": DOCUMENTS, **change}
    with pytest.raises(error, match=words):
        losses.infonce(**given)


def test_score_banks_are_finite():
    for value in (np.nan, np.inf):
        with pytest.raises(tandem.UsageError, match=f"bank_negatives must be finite, found {value}"):
            losses.mann_whitney(QUERIES, DOCUMENTS, bank_negatives=[0.5, value])
    assert losses.mann_whitney(QUERIES, DOCUMENTS, bank_negatives=[0.5]).value > 0


def test_the_gradient_of_bixse_holds_the_bias_that_the_batch_gave():
    grades = np.eye(4, 6)
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (QUERIES, DOCUMENTS)]
    bias = np.log(4 / 20) - 20 * (unit[0] @ unit[1].T).mean()  # the batch's mean is the mean grade
    found = losses.bixse(QUERIES, DOCUMENTS, relevance=grades)
    given = losses.bixse(QUERIES, DOCUMENTS, relevance=grades, bias=bias)
    assert found.value == pytest.approx(given.value, abs=1e-9)
    np.testing.assert_allclose(found.grad_queries, given.grad_queries, atol=1e-9)
    np.testing.assert_allclose(found.grad_documents, given.grad_documents, atol=1e-9)
    assert "held fixed" in losses.__doc__


def test_what_an_objective_needs_is_asked_for():
    with pytest.raises(tandem.UsageError, match=r"relevance is missing: the objective bixse needs it"):
        losses.bixse(QUERIES, DOCUMENTS)
    with pytest.raises(tandem.UsageError, match="relevance must be from 0 to 1 where labelled, found 2"):
        losses.bixse(QUERIES, DOCUMENTS, relevance=np.full((4, 6), 2))
    with pytest.raises(tandem.UsageError, match="nosuch"):
        losses.evaluate("nosuch", QUERIES, DOCUMENTS)
    with pytest.raises(TypeError, match="objective is of the type NoneType; expected str"):
        losses.evaluate(None, QUERIES, DOCUMENTS)
