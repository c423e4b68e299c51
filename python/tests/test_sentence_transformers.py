"""Beside the real sentence-transformers: its trainer, its own losses, and scripts that were written for it."""

import numpy as np
import pytest

from tandem_retrieval import Model

torch = pytest.importorskip("torch")
peer = pytest.importorskip("sentence_transformers")
trained = pytest.importorskip("tandem_retrieval.sentence_transformers")

SUBJECTS = ["bread", "trains", "stars", "rain", "cars", "bees", "salt", "glass", "wool", "tea"]
PAIRS = [(f"{question} {subject}?", f"{statement} {subject} in the year {1900 + 7 * i}.")
         for i, subject in enumerate(SUBJECTS)
         for question, statement in [("who makes", "A workshop began with"), ("where is", "One can find"),
                                     ("why is there", "The reason lies in"), ("how much costs", "Prices rose for")]]


@pytest.fixture
def encoder(model_folder):
    torch.manual_seed(3)
    return peer.SentenceTransformer(model_folder, device="cpu")


def columns_of(encoder, *columns):
    preprocess = getattr(encoder, "preprocess", None) or encoder.tokenize  # the latter until version 5.2
    return [preprocess(list(texts)) for texts in columns]


def gradients_of(encoder, loss, columns, labels=None):
    encoder.zero_grad()
    value = loss([dict(features) for features in columns], labels)
    value.backward()
    return value.item(), {name: one.grad.clone() for name, one in encoder.named_parameters() if one.grad is not None}


def train(encoder, loss, tmp_path, steps=10, labels=None, **options):
    datasets = pytest.importorskip("datasets")
    rows = {"anchor": [query for query, _ in PAIRS], "positive": [document for _, document in PAIRS]}
    if labels is not None:
        rows["label"] = labels
    arguments = peer.SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path), max_steps=steps, per_device_train_batch_size=20, learning_rate=1e-4, logging_steps=1,
        save_strategy="no", report_to=[], use_cpu=True, warmup_steps=0, weight_decay=0.1, disable_tqdm=True, **options)
    trainer = peer.SentenceTransformerTrainer(model=encoder, args=arguments, loss=loss,
                                              train_dataset=datasets.Dataset.from_dict(rows))
    trainer.train()
    return trainer, [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def test_infonce_is_the_multiple_negatives_ranking_loss(encoder):
    from sentence_transformers.losses import MultipleNegativesRankingLoss

    encoder.eval()
    queries, documents = zip(*PAIRS[:12])
    columns = columns_of(encoder, queries, documents, documents[1:] + ("Something else.",))
    masks = dict.fromkeys(("copies", "known_positives", "same_query", "query_text"), False)
    value, gradients = gradients_of(encoder, trained.InfoNCE(encoder, temperature=1 / 20, masks=masks), columns)
    expected, theirs = gradients_of(encoder, MultipleNegativesRankingLoss(encoder, scale=20.0), columns)
    assert value == pytest.approx(expected, abs=1e-5)
    assert gradients.keys() == theirs.keys()
    largest = max(one.abs().max() for one in theirs.values())
    for name, one in gradients.items():
        torch.testing.assert_close(one, theirs[name], rtol=0, atol=1e-4 * largest.item())


def test_margin_mse_is_theirs(encoder):
    from sentence_transformers.losses import MarginMSELoss

    encoder.eval()
    queries, documents = zip(*PAIRS[:6])
    columns = columns_of(encoder, queries, documents, documents[::-1])
    margins = torch.linspace(-1, 2, 6)
    value, _ = gradients_of(encoder, trained.MarginMSE(encoder), columns, margins)
    expected, _ = gradients_of(encoder, MarginMSELoss(encoder), columns, margins)
    assert value == pytest.approx(expected, abs=1e-5)


def test_mini_batches_have_the_same_gradients(encoder):
    encoder.eval()
    seen = []
    encoder.register_forward_pre_hook(lambda module, inputs: seen.append(len(inputs[0]["input_ids"])))
    columns = columns_of(encoder, *zip(*PAIRS[:10]))
    value, plain = gradients_of(encoder, trained.MannWhitney(encoder, temperature=0.1), columns)
    assert seen == [10, 10]
    seen.clear()
    parts, cached = gradients_of(encoder, trained.MannWhitney(encoder, temperature=0.1, mini_batch_size=4), columns)
    assert sorted(seen) == sorted([4, 4, 2] * 4)
    assert parts == pytest.approx(value, abs=1e-6)
    assert cached.keys() == plain.keys()
    largest = max(one.abs().max() for one in plain.values()).item()
    for name, one in cached.items():
        torch.testing.assert_close(one, plain[name], rtol=0, atol=2e-5 * largest)


def test_dropout_is_the_same_when_texts_are_embedded_again(encoder):
    encoder.train()
    for module in encoder.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.3
    columns = columns_of(encoder, *zip(*PAIRS[:6]))
    loss = trained.InfoNCE(encoder, mini_batch_size=6)
    torch.manual_seed(5)
    _, cached = gradients_of(encoder, loss, columns)
    torch.manual_seed(5)
    loss.mini_batch_size = None
    _, plain = gradients_of(encoder, loss, columns)
    largest = max(one.abs().max() for one in plain.values()).item()
    for name, one in cached.items():
        torch.testing.assert_close(one, plain[name], rtol=0, atol=2e-5 * largest)


def test_mini_batches_and_matryoshka_are_refused_and_plain_ones_are_taken(encoder):
    from sentence_transformers.losses import MatryoshkaLoss

    encoder.eval()
    columns = columns_of(encoder, *zip(*PAIRS[:6]))
    wrapped = MatryoshkaLoss(encoder, trained.InfoNCE(encoder), [384, 128])
    whole, _ = gradients_of(encoder, trained.InfoNCE(encoder), columns)
    both, _ = gradients_of(encoder, wrapped, columns)
    embeddings = [encoder(dict(features))["sentence_embedding"].detach().double().numpy()[:, :128] for features in columns]
    from tandem_retrieval import losses

    assert both == pytest.approx(whole + losses.infonce(*embeddings).value, abs=1e-5)
    if int(peer.__version__.split(".")[0]) >= 6:
        with pytest.raises(ValueError, match="mini_batch_size does not go with losses that wrap others"):
            MatryoshkaLoss(encoder, trained.InfoNCE(encoder, mini_batch_size=2), [384, 128])


@pytest.mark.parametrize(("name", "options"), [
    ("InfoNCE", {}), ("MannWhitney", {"temperature": 0.05, "bank": 200}),
    ("SamToNe", {"temperature": 0.05, "directions": "both", "same_tower": "both"}),
    ("Pair", {"temperature": 0.05, "mini_batch_size": 8}),
])
def test_the_trainer_trains(encoder, tmp_path, name, options):
    loss = getattr(trained, name)(encoder, **options)
    _, values = train(encoder, loss, tmp_path)
    assert len(values) == 10
    assert np.mean(values[-3:]) < 0.9 * np.mean(values[:3]), values


def test_the_trainer_steps_what_is_learned(encoder, tmp_path):
    loss = trained.BiXSE(encoder, learn_scale=True, bias=-4.0)
    rates = loss.learning_rates(1e-4)
    trainer, values = train(encoder, loss, tmp_path, labels=[1.0, 0.75] * 20, learning_rate_mapping=rates,
                            lr_scheduler_type="constant")
    assert np.mean(values[-3:]) < np.mean(values[:3])
    of_ours = [group for group in trainer.optimizer.param_groups
               if any(one is loss.bias_and_scale["bias"] for one in group["params"])]
    assert [(len(group["params"]), group["lr"], group["weight_decay"]) for group in of_ours] == [(2, 1e-2, 0.0)]
    assert 0.02 < abs(loss.bias + 4.0) <= 0.11  # Adam's steps are at most about as long as the rate
    assert 1e-3 < abs(loss.scale - 20) <= 0.11


SCRIPT = """
model = SentenceTransformer(FOLDER)
queries = ["when does the train leave?", "how is bread baked?"]
documents = ["The night train to Vienna leaves at ten.", "Bread is baked with sourdough.", "Rain comes from clouds."]
embeddings = model.encode(documents)
query_embeddings = model.encode_query(queries)
document_embeddings = model.encode_document(documents)
scores = model.similarity(query_embeddings, document_embeddings)
pairwise = model.similarity_pairwise(query_embeddings, document_embeddings[:2])
best = scores.argmax(1).tolist()
single = model.encode("one sentence")
width = getattr(model, "get_embedding_dimension", model.get_sentence_embedding_dimension)()
"""


def test_a_script_for_sentence_transformers_runs_with_another_import(model_folder):
    theirs, ours = {"FOLDER": model_folder}, {"FOLDER": model_folder}
    exec("from sentence_transformers import SentenceTransformer" + SCRIPT, theirs)
    exec("from tandem_retrieval import Model as SentenceTransformer" + SCRIPT, ours)
    assert isinstance(ours["model"], Model)
    for name in ("embeddings", "query_embeddings", "document_embeddings", "scores", "pairwise", "single"):
        found, expected = np.asarray(ours[name]), np.asarray(theirs[name])
        assert found.dtype == expected.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=name)
    assert ours["best"] == theirs["best"] == [0, 1]
    assert ours["width"] == theirs["width"] == 384
