"""Encoding gives the program's bytes; texts, prompts, dimensions and blocks mean what they say."""

import json
import subprocess
from types import MappingProxyType

import numpy as np
import pytest

import tandem_retrieval as tandem


def encode_by_program(program, folder, texts, output, *flags):
    corpus = output / "texts.jsonl"
    corpus.write_text("".join(json.dumps({"_id": str(i), "text": text}) + "\n" for i, text in enumerate(texts)))
    target = output / "rows.npy"
    subprocess.run([program, "encode", "--model", folder, str(corpus), "--output", str(target), "--force", *flags],
                   check=True, capture_output=True)
    return np.load(target)


@pytest.mark.parametrize(("kind", "flags", "options"), [
    ("document", [], {}),
    ("query", [], {}),
    ("document", ["--dimensions", "128"], {"dimensions": 128}),
    ("document", ["--prompt", "passage: "], {"prompt": "passage: "}),
    ("document", ["--precision", "auto"], {"precision": "auto"}),
])
def test_embeddings_are_those_of_the_program_to_the_byte(program, model, model_folder, texts, tmp_path, kind, flags,
                                                         options):
    expected = encode_by_program(program, model_folder, texts, tmp_path, "--kind", kind, *flags)
    found = model.encode(texts, kind, **options)
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


def test_blocks_of_an_iterator_are_the_rows_of_all(model, texts):
    parts = list(model.encode_blocks(iter(texts)))
    assert [len(part) for part in parts] == [4096, len(texts) - 4096]
    assert np.concatenate(parts).tobytes() == model.encode(texts).tobytes()
    assert model.encode(iter(texts[:10])).tobytes() == model.encode(texts[:10]).tobytes()


def test_an_endless_iterator_is_encoded_as_it_is_asked_for(model):
    def endless():
        while True:
            yield "a text"

    blocks = model.encode_blocks(endless())
    assert next(blocks).shape == (4096, model.dimensions)
    blocks.close()


def test_one_text_is_one_vector_and_no_text_none(model):
    one = model.encode("a text")
    assert one.shape == (model.dimensions,)
    assert one.tobytes() == model.encode(["a text"])[0].tobytes()
    assert model.encode([]).shape == (0, model.dimensions)
    assert model.encode(iter([]), dimensions=7).shape == (0, 7)


def test_names_of_sentence_transformers(model):
    texts = ["where is the station", "The station is in the north of the town."]
    query, document = model.encode_query(texts[:1]), model.encode_document(texts)
    scores = model.similarity(query, document)
    assert scores.shape == (1, 2)
    by_hand = query @ document.T / np.outer(np.linalg.norm(query, axis=1), np.linalg.norm(document, axis=1))
    np.testing.assert_allclose(scores, by_hand, atol=1e-6)
    np.testing.assert_allclose(model.similarity_pairwise(document, document), [1, 1], atol=1e-6)
    assert model.get_sentence_embedding_dimension() == model.dimensions == 384


def test_precisions_in_turns_do_not_disturb_each_other(model, texts):
    some = texts[:500]
    fp32 = model.encode(some)
    blocks = model.encode_blocks(texts)
    first = next(blocks)
    other = model.encode(some, precision="int8")
    second = next(blocks)
    assert not np.array_equal(other, fp32)
    assert np.concatenate([first, second]).tobytes() == model.encode(texts).tobytes()


def test_token_ids_are_those_of_the_program(program, model, model_folder, texts, tmp_path):
    some = [text for text in texts[:300] if text]
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(some) + "\n")
    with lines.open() as source:
        done = subprocess.run([program, "tokenize", "--model", model_folder], stdin=source, check=True,
                              capture_output=True, text=True)
    expected = [[int(number) for number in line.split()] for line in done.stdout.splitlines()]
    found = model.tokenize(some)
    assert [ids.tolist() for ids in found] == expected
    assert found[0].dtype == np.int32
    assert len(model.tokenize("word " * 600)[0]) == model.max_tokens()
    assert len(model.tokenize("word " * 600, max_tokens=0)[0]) == 602


def test_a_saved_model_is_the_same_model(model, texts, tmp_path):
    model.save(tmp_path / "copy")
    copy = tandem.Model(tmp_path / "copy")
    assert copy.encode(texts[:50]).tobytes() == model.encode(texts[:50]).tobytes()


def test_progress_counts_to_the_end(model, texts, monkeypatch):
    import tqdm.auto

    seen = []

    class Bar:
        def __init__(self, total, **_):
            self.n = 0
            seen.append(total)

        def update(self, more):
            self.n += more
            seen.append(self.n)

        def close(self):
            seen.append("closed")

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    model.encode(texts, progress=True)
    assert seen[0] == len(texts)
    assert seen[-2:] == [len(texts), "closed"]
    numbers = seen[1:-1]
    assert numbers == sorted(numbers)
    assert len(numbers) > 2, "nothing was shown within a block"


def test_what_texts_lose_is_said_once(model, texts, caplog):
    with caplog.at_level("WARNING", "tandem_retrieval"):
        model.encode(texts)
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert "1 of 4202 documents are longer than 256 tokens" in said[0]
    assert "1 of 4202 documents are empty" in said[1]


@pytest.mark.parametrize(("texts", "words"), [
    ([b"bytes"], r"texts\[0\] is of the type bytes; expected str"),
    (["a", None], r"texts\[1\] is of the type NoneType; expected str"),
    (["a", 3.5], r"texts\[1\] is of the type float; expected str"),
    (b"bytes", "texts is of the type bytes"),
    (None, "texts is of the type NoneType"),
    (5, "texts is of the type int"),
    ({"a": "b"}, "texts is a dict"),
    (MappingProxyType({"a": "b"}), "texts is a mappingproxy; give its values"),
    (type("DataFrame", (list,), {"columns": ["a", "b"]})(["a", "b"]), "texts is a DataFrame; give one of its columns"),
])
def test_what_is_no_text_is_a_type_error(model, texts, words):
    with pytest.raises(TypeError, match=words):
        model.encode(texts)


def test_half_a_surrogate_pair_is_refused(model):
    with pytest.raises(tandem.UsageError, match=r"texts\[1\] has half of a surrogate pair"):
        model.encode(["a", "\ud800"])


@pytest.mark.parametrize(("options", "words"), [
    ({"kind": "passage"}, 'kind is "passage"; expected query or document'),
    ({"precision": "fp8"}, "fp8"),
    ({"prompt": "nosuchname"}, "nosuchname"),
    ({"dimensions": 385}, "its embeddings have 384 numbers; they cannot be cut to 385"),
    ({"dimensions": 0}, "dimensions is 0"),
    ({"dimensions": -1}, "dimensions is -1; expected a whole number of 1 or more"),
    ({"prompt": "a\0b"}, "prompt is .* zero byte"),
])
def test_wrong_options_are_usage_errors(model, options, words):
    with pytest.raises(tandem.UsageError, match=words) as caught:
        model.encode(["a"], **options)
    assert caught.value.exit_code == 2
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(("options", "words"), [
    ({"dimensions": True}, "dimensions is of the type bool"),
    ({"kind": None}, "kind is of the type NoneType; expected str"),
    ({"prompt": 3}, "prompt is of the type int; expected str"),
    ({"precision": 32}, "precision is of the type int"),
    ({"batch_size": 32}, "encode has no argument batch_size: texts are packed by their lengths"),
    ({"show_progress_bar": False}, "show_progress_bar: it is called progress"),
    ({"normalize_embeddings": True}, "normalize_embeddings: whether embeddings have length 1 stands in the model"),
    ({"convert_to_tensor": True}, "convert_to_tensor: the result is an array of NumPy"),
    ({"nosuch": 1}, "encode has no argument nosuch$"),
])
def test_options_of_wrong_types_and_of_peers(model, options, words):
    for encode in (model.encode, model.encode_blocks):  # at the call, not with the first block
        with pytest.raises(TypeError, match=words):
            encode(["a"], **options)


def test_other_calls_of_a_model_check_their_arguments(model):
    for call, words in [
        (lambda: model.tokenize("a", max_tokens=-1), "max_tokens is -1"), (lambda: model.save(""), "folder is empty"),
        (lambda: model.tokenize("a", kind="passage"), "kind is")]:
        with pytest.raises(tandem.UsageError, match=words):
            call()
    for call, words in [
        (lambda: model.tokenize("a", kind=3), "kind is of the type int"), (lambda: model.save(None), "folder is of the type"),
        (lambda: model.max_tokens(None), "kind is of the type"), (lambda: model.prompt(1), "kind is of the type int"),
        (lambda: model.probabilities(["a"]), "scores has the dtype <U1; expected numbers"),
        (lambda: model.probabilities(np.ma.masked_array([0.5], [True])), "scores is a masked array")]:
        with pytest.raises(TypeError, match=words):
            call()


def test_similarity_of_large_and_small_numbers(model):
    one = np.zeros((1, 384), np.float32)
    one[0, :2] = 3e30, 4e30  # whose squares float32 lacks
    assert model.similarity(one, one)[0, 0] == pytest.approx(1)
    assert model.similarity_pairwise(one, -one * 1e-38)[0] == pytest.approx(-1)
    with pytest.raises(tandem.NumericError, match="a has a number that is larger than those of float32"):
        model.similarity(np.full((1, 384), 1e300), one)
    with pytest.raises(TypeError, match="b is a masked array, whose mask would be lost"):
        model.similarity(one, np.ma.masked_array(one, one > 0))
    with pytest.raises(tandem.UsageError, match="a has rows of different lengths"):
        model.similarity([[1.0, 2.0], [1.0]], one)


@pytest.mark.parametrize(("rows", "error"), [
    (["a", "b"], TypeError), ([[1, 2]], TypeError), (None, TypeError), (np.zeros((2, 3, 4)), tandem.UsageError),
    (np.zeros((2, 3)), tandem.UsageError)])
def test_similarity_refuses_what_are_no_embeddings(model, rows, error):
    with pytest.raises(error):
        model.similarity(np.zeros((1, 384), np.float32), rows)
