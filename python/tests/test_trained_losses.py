"""Losses for sentence-transformers' trainer are the program's, with right gradients, on columns and labels as theirs."""

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from forked import WAIT_FOR_CHILD

import tandem_retrieval as tandem
from tandem_retrieval import _tandem, losses

torch = pytest.importorskip("torch")
trained = pytest.importorskip("tandem_retrieval.sentence_transformers")

ROOT = Path(__file__).resolve().parents[2]
ROWS, WIDTH, EXTRA = 5, 6, 2
GRADED = {"bixse", "soft_infonce", "pairwise_bce", "lambda_loss"}
TAUGHT = {"margin_mse", "kl_distillation"}
NAMES = list(trained.LOSSES)


class Given(torch.nn.Module):
    """A model that embeds a text as what stands in the features."""

    similarity_fn_name = "cosine"

    def forward(self, features):
        return dict(features)


def column(embeddings, ids=None):
    rows = len(embeddings)
    ids = torch.as_tensor(np.random.default_rng(rows).integers(5, 10**6, (rows, 4)) if ids is None else ids)
    return {"sentence_embedding": embeddings, "input_ids": ids, "attention_mask": torch.ones_like(ids)}


def columns_of(embeddings):
    """Columns whose texts all differ."""
    return [column(one, np.arange(len(one))[:, None] + 100 * i) for i, one in enumerate(embeddings)]


def embeddings_of(seed=1, count=2 + EXTRA):
    random = np.random.default_rng(seed)
    return [torch.tensor(random.normal(size=(ROWS, WIDTH)), requires_grad=True) for _ in range(count)]


def labels_of(name):
    random = np.random.default_rng(2)
    if name in GRADED:
        return torch.tensor(random.integers(0, 4, (ROWS, 1 + EXTRA)) / 3)
    return torch.tensor(random.normal(size=(ROWS, 1 + EXTRA))) if name in TAUGHT else None


def own_columns():
    """[Q, 1 + K]: the columns of each row's own documents, paired ones of all rows first."""
    return np.array([[i, *(ROWS + i * EXTRA + k for k in range(EXTRA))] for i in range(ROWS)])


def case_of(name, parameters, embeddings, labels):
    """The batch as a case of `tandem loss`, its masks by hand: all texts differ."""
    queries, positives, *negatives = (one.detach().numpy() for one in embeddings)
    documents = np.concatenate([positives, *(np.stack([n[i] for n in negatives]) for i in range(ROWS))])
    values, labelled = np.zeros((ROWS, len(documents))), np.zeros((ROWS, len(documents)))
    negative = np.ones((ROWS, len(documents)))
    for i, own in enumerate(own_columns()):
        negative[i, i] = 0
        if labels is not None:
            values[i, own], labelled[i, own] = labels[i], 1
        if name in GRADED:
            negative[i, own] = [0, *(labels[i, 1:] == 0)]
    others = 1 - np.eye(ROWS)
    case = {"objective": name, "parameters": parameters, "queries": queries, "documents": documents,
            "positive": np.arange(ROWS), "relevance": values, "teacher": values, "labelled": labelled,
            "negative_mask": negative, "query_mask": others, "document_mask": others}
    return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in case.items()}


def parameters_of(name):
    return {"similarity_kind": "cosine", **({"bias": -1.5} if name == "bixse" else {})}


@pytest.mark.parametrize("name", NAMES)
def test_value_and_gradients_are_those_of_tandem_loss(program, tmp_path, name):
    embeddings, labels = embeddings_of(), labels_of(name)
    parameters = parameters_of(name)
    loss = trained.LOSSES[name](Given(), **parameters)
    value = loss(columns_of(embeddings), labels)
    value.backward()
    queries, positives, *negatives = (one.grad.numpy() for one in embeddings)
    case = case_of(name, parameters, embeddings, None if labels is None else labels.numpy())
    case["loss"], case["grad_queries"] = value.item(), queries.tolist()
    case["grad_documents"] = np.concatenate(
        [positives, *(np.stack([n[i] for n in negatives]) for i in range(ROWS))]).tolist()
    assert value.dtype == torch.float64
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps([case]))
    done = subprocess.run([program, "loss", str(cases), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    case["loss"] += 1e-6
    cases.write_text(json.dumps([case]))
    assert subprocess.run([program, "loss", str(cases), "--check"], capture_output=True).returncode == 6


def test_reference_vectors_with_learned_numbers(vectors):
    seen = set()
    for file in sorted(vectors.glob("*.json")):
        for case in json.loads(file.read_text()):
            parameters = {key: value for key, value in case["parameters"].items() if value is not None}
            arrays = {key: np.array(parameters.pop(key)) for key in ("bank_positives", "bank_negatives")
                      if key in parameters}
            for key in ("queries", "documents", "relevance", "teacher", "positive", "labelled", "negative_mask",
                        "query_mask", "document_mask"):
                kind = {"positive": np.int64, "queries": float, "documents": float, "relevance": float,
                        "teacher": float}.get(key, np.uint8)
                if case.get(key) is not None:
                    arrays[key] = np.array(case[key], kind)
            gradients = np.empty_like(arrays["queries"]), np.empty_like(arrays["documents"])
            module = _tandem.TrainedLoss(case["objective"], parameters)
            found = module.evaluate(arrays, None, None, False, *gradients)
            assert found["value"] == pytest.approx(case["loss"], abs=1e-6)
            np.testing.assert_allclose(gradients[0], case["grad_queries"], atol=1e-6)
            np.testing.assert_allclose(gradients[1], case["grad_documents"], atol=1e-6)
            seen.add(case["objective"])
    assert seen == set(NAMES) == set(losses.__all__) - {"Loss", "evaluate"}


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_finite_differences(name):
    labels = labels_of(name)
    # Temperatures and scales at which differences of 1e-6 are seen beside the loss's curvature.
    softer = {"temperature": 0.5} if name in ("samtone", "pair", "mann_whitney") else {}
    more = {"learn_scale": True, "bias": -0.5} if name == "bixse" else {}
    loss = trained.LOSSES[name](Given(), **softer, **more).double()
    numbers = [one for one in loss.parameters() if one.requires_grad]
    assert len(numbers) == (2 if name == "bixse" else 0)

    def value(*inputs):
        return loss(columns_of(inputs[: 2 + EXTRA]), labels)

    assert torch.autograd.gradcheck(value, (*embeddings_of(), *numbers))


def test_the_gradient_that_comes_in_is_a_factor():
    embeddings = embeddings_of()
    loss = trained.InfoNCE(Given())
    loss(columns_of(embeddings)).backward()
    once = embeddings[0].grad.clone()
    (loss(columns_of(embeddings)) * 4).backward()
    torch.testing.assert_close(embeddings[0].grad, 5 * once)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_smaller_embeddings_have_a_float32_loss_and_gradients_of_their_own_type(dtype):
    embeddings = [one.detach().to(dtype).requires_grad_() for one in embeddings_of()]
    value = trained.InfoNCE(Given())(columns_of(embeddings))
    value.backward()
    assert value.dtype == torch.float32
    assert embeddings[0].grad.dtype == dtype
    expected = losses.infonce(embeddings[0].detach().double().numpy(), embeddings[1].detach().double().numpy()).value
    assert trained.InfoNCE(Given())(columns_of(embeddings[:2])).item() == pytest.approx(expected, rel=1e-6)


def test_copies_are_no_negatives():
    queries, positives, negatives = embeddings_of(count=3)
    texts = columns_of([queries, positives, negatives])
    texts[1]["input_ids"] = torch.tensor([[10], [11], [10], [12], [13]])  # rows 0 and 2 have one document
    texts[0]["input_ids"] = torch.tensor([[1], [2], [3], [4], [1]])  # rows 0 and 4 have one query
    texts[2]["input_ids"] = torch.tensor([[20], [2], [21], [22], [23]])  # row 1's negative has its query's text
    mask = np.ones((ROWS, 2 * ROWS), bool)
    for row, columns in enumerate([(0, 2, 4), (1, 6), (0, 2), (3,), (0, 2, 4)]):
        mask[row, list(columns)] = False
    arrays = queries.detach().numpy(), np.concatenate([positives.detach().numpy(), negatives.detach().numpy()])
    found = trained.InfoNCE(Given())(texts).item()
    assert found == pytest.approx(losses.infonce(*arrays, negative_mask=mask).value, abs=1e-12)
    all_count = dict.fromkeys(("copies", "same_query", "query_text"), False)
    found = trained.InfoNCE(Given(), masks=all_count)(texts).item()
    assert found == pytest.approx(losses.infonce(*arrays).value, abs=1e-12)
    own = np.zeros_like(mask)
    own[np.arange(ROWS), ROWS + np.arange(ROWS)] = [True, False, True, True, True]
    found = trained.InfoNCE(Given(), masks={"in_batch": False})(texts).item()
    assert found == pytest.approx(losses.infonce(*arrays, negative_mask=own).value, abs=1e-12)


def test_padding_is_no_part_of_a_text():
    first, second = (column(one) for one in embeddings_of(count=2))
    second["input_ids"] = torch.tensor([[7, 8, 0]] * 2 + [[7, 9, 0], [7, 9, 1], [7, 9, 2]])
    second["attention_mask"] = torch.tensor([[1, 1, 0]] * 4 + [[1, 1, 1]])
    hashes = trained.InfoNCE(Given())._hashes(second)
    assert hashes[0] == hashes[1] != hashes[2] == hashes[3] != hashes[4]


def test_features_without_tokens_are_told_of_once(caplog):
    loss = trained.InfoNCE(Given())
    queries, documents = ({"sentence_embedding": one} for one in embeddings_of(count=2))
    expected = losses.infonce(*(one["sentence_embedding"].detach().numpy() for one in (queries, documents))).value
    with caplog.at_level("WARNING", "tandem_retrieval"):
        for _ in range(2):
            assert loss([queries, documents]).item() == pytest.approx(expected, abs=1e-12)
    assert len(caplog.records) == 1
    assert "InfoNCE: copies of a text in a batch are not known" in caplog.text


def test_labels_of_the_second_column_alone():
    embeddings = embeddings_of(count=3)
    grades = torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0])
    found = trained.BiXSE(Given(), bias=-1.0)(columns_of(embeddings), grades).item()
    queries, *documents = (one.detach().numpy() for one in embeddings)
    arrays = {"relevance": np.zeros((ROWS, 2 * ROWS)), "labelled": np.eye(ROWS, 2 * ROWS, dtype=bool)}
    arrays["relevance"][np.arange(ROWS), np.arange(ROWS)] = grades
    assert found == pytest.approx(losses.bixse(queries, np.concatenate(documents), bias=-1.0, **arrays).value, abs=1e-12)


@pytest.mark.parametrize("name", sorted(TAUGHT))
def test_margins_are_as_good_as_scores(name):
    embeddings, scores = embeddings_of(), labels_of(name)
    loss = trained.LOSSES[name](Given())
    margins = scores[:, :1] - scores[:, 1:]
    expected = loss(columns_of(embeddings), scores).item()
    assert loss(columns_of(embeddings), margins).item() == pytest.approx(expected, abs=1e-12)
    three = embeddings[:3]
    expected = loss(columns_of(three), scores[:, :2]).item()
    assert loss(columns_of(three), margins[:, 0]).item() == pytest.approx(expected, abs=1e-12)


def test_a_bias_starts_with_the_first_batch_and_is_a_parameter():
    embeddings, grades = embeddings_of(), labels_of("bixse")
    loss = trained.BiXSE(Given())
    assert loss.bias is None
    with torch.no_grad():
        before = loss(columns_of(embeddings), grades).item()
    assert loss.bias is None, "a batch that is not trained on started it"
    assert loss(columns_of(embeddings), grades).item() == before
    started = loss.bias
    assert loss.scale == 20
    case = case_of("bixse", {}, embeddings, grades.numpy())
    queries, documents = np.array(case["queries"]), np.array(case["documents"])
    scores = (queries / np.linalg.norm(queries, axis=1, keepdims=True)) @ (
        documents / np.linalg.norm(documents, axis=1, keepdims=True)).T
    cells = np.array(case["labelled"]).astype(bool) | np.array(case["negative_mask"]).astype(bool)
    mean = np.array(case["relevance"])[cells].mean()
    assert started == pytest.approx(np.log(mean / (1 - mean)) - 20 * scores[cells].mean(), abs=1e-5)
    optimizer = torch.optim.SGD(loss.parameters(), lr=0.5)
    value = loss(columns_of(embeddings), grades)
    value.backward()
    slope = loss.bias_and_scale["bias"].grad.item()
    optimizer.step()
    assert slope != 0
    assert loss.bias == pytest.approx(started - 0.5 * slope)
    assert loss(columns_of(embeddings), grades).item() < value.item()
    assert loss.scale == 20
    other = trained.BiXSE(Given())
    other.load_state_dict(loss.state_dict())
    assert other.bias == loss.bias


def test_only_what_is_learned_gets_a_gradient():
    assert [name for name, one in trained.BiXSE(Given()).named_parameters() if one.requires_grad] == [
        "bias_and_scale.bias"]
    loss = trained.BiXSE(Given(), learn_bias=False, learn_scale=True, bias=0.5, bias_learning_rate_factor=7)
    assert [name for name, one in loss.named_parameters() if one.requires_grad] == ["bias_and_scale.scale"]
    assert loss.bias == 0.5
    assert loss.learning_rates(2.0) == {r"\bbias_and_scale\.": 14.0}
    assert trained.BiXSE(Given(), learn_bias=False).learning_rates(2.0) == {}
    assert trained.InfoNCE(Given()).learning_rates(2.0) == {}
    assert trained.InfoNCE(Given()).scale is trained.InfoNCE(Given()).bias is None


def test_a_score_bank_holds_the_scores_of_earlier_batches():
    first, second = embeddings_of(1, 2), embeddings_of(2, 2)
    loss = trained.MannWhitney(Given(), bank=1000, temperature=0.1)
    loss(columns_of(first))
    queries, documents = (one.detach().numpy() for one in first)
    scores = (queries / np.linalg.norm(queries, axis=1, keepdims=True)) @ (
        documents / np.linalg.norm(documents, axis=1, keepdims=True)).T
    others = ~np.eye(ROWS, dtype=bool)
    arrays = [one.detach().numpy() for one in second]
    plain = losses.mann_whitney(*arrays, temperature=0.1).value
    with torch.no_grad():
        assert loss(columns_of(second)).item() == pytest.approx(plain, abs=1e-12)
    expected = losses.mann_whitney(*arrays, temperature=0.1, bank_positives=np.diag(scores).astype(np.float32),
                                   bank_negatives=scores[others].astype(np.float32)).value
    assert loss(columns_of(second)).item() == pytest.approx(expected, abs=1e-12)
    assert abs(expected - plain) > 1e-3


def test_the_similarity_is_the_models():
    class Dots(Given):
        similarity_fn_name = "dot"

    class Distances(Given):
        similarity_fn_name = "euclidean"

    embeddings = embeddings_of(count=2)
    arrays = [one.detach().numpy() for one in embeddings]
    for model, more, kind in ((Dots(), {}, "dot"), (Dots(), {"similarity_kind": "cosine"}, "cosine"),
                              (Given(), {}, "cosine")):
        found = trained.InfoNCE(model, temperature=1.0, **more)(columns_of(embeddings)).item()
        assert found == pytest.approx(losses.infonce(*arrays, temperature=1.0, similarity_kind=kind).value, abs=1e-12)
    with pytest.raises(tandem.UsageError, match="similarity_fn_name is 'euclidean'; infonce knows cosine and dot"):
        trained.InfoNCE(Distances())
    assert trained.MarginMSE(Given())._objective.plan["similarity"] == "dot"


@pytest.mark.parametrize(("name", "columns", "labels", "words"), [
    ("infonce", 1, None, "has 1 columns of texts; infonce expects two or more"),
    ("bixse", 2, None, "bixse needs grades: a column `label` or `score`"),
    ("bixse", 2, [0.0, 1, 2, 1, 1], "relevance must be from 0 to 1 where labelled, found 2"),
    ("bixse", 2, [0.0, -1, 1, 1, 1], "found -1"),
    ("bixse", 3, [[0.0, 1, 1]] * 5, r"labels has the shape \[5, 3\]; bixse expects \[5\] or \[5, 2\]"),
    ("infonce", 2, [1, 1, 0, 1, 1], "the labels of 1 of 5 rows say otherwise"),
    ("mann_whitney", 3, [[1, 1]] * 5, "the labels of 5 of 5 rows say otherwise"),
    ("kl_distillation", 2, [1.0] * 5, "it needs three columns or more"),
    ("kl_distillation", 3, None, "needs a teacher's scores"),
    ("margin_mse", 4, [1.0] * 5, r"labels has the shape \[5\]; margin_mse expects \[5, 3\], scores, or \[5, 2\], margins"),
])
def test_columns_and_labels_that_do_not_fit(name, columns, labels, words):
    loss = trained.LOSSES[name](Given())
    with pytest.raises(tandem.UsageError, match=words):
        loss(columns_of(embeddings_of(count=columns)), None if labels is None else torch.tensor(labels))


def test_labels_that_say_the_same_are_taken():
    loss, embeddings = trained.InfoNCE(Given()), embeddings_of(count=3)
    expected = loss(columns_of(embeddings)).item()
    assert loss(columns_of(embeddings), torch.ones(ROWS, dtype=torch.int64)).item() == expected
    assert loss(columns_of(embeddings), torch.tensor([[1.0, 0]] * ROWS)).item() == expected


@pytest.mark.parametrize(("arguments", "words"), [
    ({"temperatur": 1}, "temperatur is unknown for the objective infonce; did you mean temperature"),
    ({"temperature": 0}, "temperature must be from 0.0001 to 10"),
    ({"masks": {"copy": True}}, "masks.copy is unknown; did you mean copies"),
    ({"masks": {"copies": 1}}, "masks.copies must be True or False"),
    ({"mini_batch_size": 0}, "mini_batch_size is 0; expected a whole number of 1 or more, or None"),
])
def test_bad_arguments(arguments, words):
    with pytest.raises(tandem.UsageError, match=words):
        trained.InfoNCE(Given(), **arguments)


def test_numbers_that_are_not_finite():
    embeddings = embeddings_of(count=2)
    embeddings[0] = torch.full((ROWS, WIDTH), torch.nan)  # float32, beside float64
    with pytest.raises(tandem.NumericError):
        trained.InfoNCE(Given())(columns_of(embeddings))
    with pytest.raises(tandem.UsageError, match="found nan"):
        trained.BiXSE(Given())(columns_of(embeddings_of(count=2)), torch.full((ROWS,), torch.nan))


def test_copies_of_a_loss_compute_as_it_does():
    loss, embeddings = trained.SamToNe(Given(), temperature=0.3), embeddings_of()
    expected = loss(columns_of(embeddings)).item()
    for other in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss._objective)) and copy.copy(loss)):
        assert other(columns_of(embeddings)).item() == expected
    assert loss.get_config_dict() == {"objective": "samtone", "temperature": 0.3, "similarity_kind": "cosine"}


def test_classes_are_described_by_the_catalogue():
    assert [one.__name__ for one in trained.LOSSES.values()] == [
        "InfoNCE", "SamToNe", "Pair", "MannWhitney", "BiXSE", "SoftInfoNCE", "MarginMSE", "KLDistillation", "PairwiseBCE",
        "LambdaLoss"]
    assert "temperature: divides score differences before the sigmoid (default 0.01" in trained.MannWhitney.__doc__


def test_the_stub_is_what_the_catalogue_makes():
    tool = ROOT / "tools" / "python" / "sentence_transformers_stub.py"
    done = subprocess.run([sys.executable, tool], check=True, capture_output=True, text=True)
    stub = Path(trained.__file__).with_suffix(".pyi").read_text()
    assert stub == done.stdout, f"{tool} > {Path(trained.__file__).with_suffix('.pyi')}"


def test_what_is_missing_is_said():
    code = "import sys; sys.modules['torch'] = None; import tandem_retrieval.sentence_transformers"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install 'tandem-retrieval[sentence-transformers]'" in done.stderr


FORKED = """
import os
import numpy as np, torch
from tandem_retrieval._trained_loss import TrainedObjective
a = torch.ones(1000, 1000)
(a @ a).sum(), torch.exp(a).sum()
objective = TrainedObjective("infonce", {}, None)
rows = np.random.default_rng(1).normal(size=(256, 384)).astype(np.float32)
child = os.fork()
if child == 0:
    hashes = np.arange(256, dtype=np.uint64), np.arange(256, 512, dtype=np.uint64)
    found = objective.evaluate(rows, rows, None, hashes, scale=None, bias=None, training=True)
    os._exit(0 if np.isfinite(found.value) else 3)
"""


def test_a_fork_after_a_computation_of_torch_computes():
    done = subprocess.run([sys.executable, "-c", FORKED + WAIT_FOR_CHILD], capture_output=True, text=True, timeout=120)
    assert done.stdout == "0\n", (done.stdout, done.stderr)
