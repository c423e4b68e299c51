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
    with pytest.raises(TypeError):
        tandem.Model(folder)


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
