"""What `train`, `resume` and `Run` refuse before anything is written, and what they say of it."""

import os
import shutil
from pathlib import Path

import pytest

import tandem_retrieval as tandem
from tandem_retrieval._recipe import toml_text


@pytest.fixture
def recipe(program, tiny_model):
    return {"model": {"base": tiny_model, "max_query_tokens": 16}, "objective": {"name": "infonce"},
            "train": {"steps": 1, "batch": 4}}


@pytest.mark.parametrize(("change", "error", "words"), [
    ({"recipe": ""}, tandem.UsageError, "recipe is empty; expected a path"),
    ({"recipe": "a\0b.toml"}, tandem.UsageError, "recipe is .* zero byte"),
    ({"output": ""}, tandem.UsageError, "output is empty; expected a path"),
    ({"output": b"runs"}, TypeError, "output is of the type bytes; expected str or a path"),
    ({"output": "a\0b"}, tandem.UsageError, "output is .* zero byte"),
    ({"data": ""}, tandem.UsageError, "data is empty; expected a path"),
    ({"validation": ""}, tandem.UsageError, "validation is empty"),
    ({"callback": 5}, TypeError, "callback is of the type int; expected a function of a dict"),
    ({"settings": ["train.batch"]}, TypeError, "settings is of the type list; expected a dict as"),
    ({"settings": {3: 1}}, TypeError, "a key of settings is of the type int; expected str"),
    ({"settings": {"\ud800": 1}}, tandem.UsageError, "a key of settings is .* half of a surrogate pair"),
    ({"seed": True}, TypeError, "seed is of the type bool"),
    ({"seed": -1}, tandem.UsageError, "seed is -1"),
    ({"threads": 1.5}, TypeError, "threads is of the type float"),
    ({"device": 0}, TypeError, "device is of the type int; expected str"),
    ({"precision": 32}, TypeError, "precision is of the type int; expected str"),
    ({"ignore_limits": "yes"}, TypeError, "ignore_limits is of the type str; expected True or False"),
])
def test_bad_arguments(recipe, rows, tmp_path, monkeypatch, change, error, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        tandem.train(**{"recipe": recipe, "data": rows, "output": "run", **change})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_an_output_error(recipe, rows, tmp_path):
    with pytest.raises(tandem.OutputError, match="/proc/nosuch/run.data: cannot be written") as caught:
        tandem.train(recipe, data=rows, output="/proc/nosuch/run")
    assert caught.value.errno and caught.value.file == "/proc/nosuch/run.data"
    (tmp_path / "file").write_text("")
    with pytest.raises(tandem.Error, match=f"{tmp_path}/file/run.data: "):
        tandem.train(recipe, data=rows, output=tmp_path / "file" / "run")


def test_names_that_begin_with_a_hyphen_are_no_flags(recipe, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = tandem.train(recipe, data=rows, output="-run")
    assert run.finished and Path("-run.data").is_dir()
    assert tandem.Run("-run").step == 1
    assert os.path.samefile(run.report(), Path("-run/report/page/index.html"))
    Path("-r.toml").write_text(toml_text({**recipe, "data": {"train": "-run.data/data.jsonl"}}))
    assert tandem.train("-r.toml", output="-other").finished
    assert tandem.train(recipe, data="-run.data/data.jsonl", output="-third").finished


def test_a_run_that_is_gone_says_so(recipe, rows, tmp_path):
    run = tandem.train(recipe, data=rows, output=tmp_path / "run")
    again = tandem.Run(run.folder)
    assert len(again.rows) > 0
    shutil.rmtree(run.folder)
    assert len(again.rows) > 0  # read before
    for read in (lambda: run.rows, lambda: run.timing):
        with pytest.raises(tandem.UsageError, match="run: is no longer there; open the run where it has moved to"):
            read()
