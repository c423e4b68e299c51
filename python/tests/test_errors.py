"""Errors are the program's, as Python exceptions with facts."""

import builtins
import pickle

import pytest

import tandem_retrieval as tandem


def test_a_model_that_is_not_there(tmp_path):
    with pytest.raises(tandem.ModelError) as caught:
        tandem.Model(tmp_path / "nosuch")
    assert caught.value.exit_code == 4
    assert str(tmp_path / "nosuch") in str(caught.value)
    assert caught.value.file.startswith(str(tmp_path / "nosuch"))


def test_a_broken_model_names_its_file(model, tmp_path):
    model.save(tmp_path / "copy")
    config = tmp_path / "copy" / "config.json"
    config.write_text("{")
    with pytest.raises(tandem.ModelError) as caught:
        tandem.Model(tmp_path / "copy")
    assert caught.value.file == str(config)
    assert caught.value.tensor is None


def test_what_cannot_be_written_is_an_os_error(model):
    with pytest.raises(tandem.OutputError) as caught:
        model.save("/proc/nosuch/model")
    assert isinstance(caught.value, OSError)
    assert caught.value.errno
    assert "/proc" in caught.value.file


def test_classes_are_the_builtin_kinds_too():
    assert issubclass(tandem.UsageError, ValueError)
    assert issubclass(tandem.MemoryError, builtins.MemoryError)
    assert issubclass(tandem.NumericError, ArithmeticError)
    for name in ("UsageError", "RecipeError", "DataError", "ModelError", "NumericError", "CheckFailed", "PeerLost",
                 "MemoryError", "OutputError"):
        assert issubclass(getattr(tandem, name), tandem.Error)


def test_facts_survive_pickling(tmp_path):
    with pytest.raises(tandem.ModelError) as caught:
        tandem.Model(tmp_path / "nosuch")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.file, copy.exit_code) == (str(caught.value), caught.value.file, 4)


@pytest.mark.parametrize("folder", [None, 3, b"x", ["a"]])
def test_a_folder_of_another_type(folder):
    for call in (tandem.Model, tandem.Index.open, tandem.Run, tandem.resume):
        with pytest.raises(TypeError, match=rf"^folder is of the type {type(folder).__name__}; expected str or a path$"):
            call(folder)


@pytest.mark.parametrize(("folder", "words"), [
    ("", "^folder is empty; expected a path$"), ("a\0b", r"^folder is 'a\\x00b', which has a zero byte$")])
def test_a_folder_that_is_none(folder, words):
    for call in (tandem.Model, tandem.Index.open, tandem.Run, tandem.resume):
        with pytest.raises(tandem.UsageError, match=words):
            call(folder)


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"dimensions": -1}, tandem.UsageError, "dimensions is -1; expected a whole number of 0 or more"),
    ({"dimensions": True}, TypeError, "dimensions is of the type bool; expected a whole number of 0 or more"),
    ({"dimensions": 10**400}, tandem.UsageError, "dimensions is a number of 1329 bits; expected a whole number from 0"),
    ({"max_query_tokens": -5}, tandem.UsageError, "max_query_tokens is -5"),
    ({"max_document_tokens": 2.5}, TypeError, "max_document_tokens is of the type float"),
    ({"query_prompt": b"x"}, TypeError, "query_prompt is of the type bytes; expected str"),
    ({"document_prompt": 3}, TypeError, "document_prompt is of the type int; expected str"),
])
def test_bad_options_of_a_model(model_folder, options, error, words):
    with pytest.raises(error, match=words):
        tandem.Model(model_folder, **options)


def test_threads(model):
    before = model.encode(["a", "b"])
    tandem.set_threads(1)
    try:
        assert tandem.threads() == 1
        assert model.encode(["a", "b"]).shape == before.shape
    finally:
        tandem.set_threads(0)
    assert tandem.threads() >= 1
    with pytest.raises(tandem.UsageError, match="threads is -1"):
        tandem.set_threads(-1)
    with pytest.raises(tandem.UsageError, match="threads is 4097; expected 0 .all. to 4096"):
        tandem.set_threads(4097)
    for threads, words in ((None, "NoneType"), (True, "bool"), (1.5, "float"), ("2", "str")):
        with pytest.raises(TypeError, match=f"threads is of the type {words}; expected a whole number"):
            tandem.set_threads(threads)
    with pytest.raises(tandem.UsageError, match="expected 0 .all. to 4096"):
        tandem.set_threads(10**400)
