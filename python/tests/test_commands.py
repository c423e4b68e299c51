"""The functions that are commands of the program give what the program prints, and leave the files that it leaves."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import tandem_retrieval as tandem
from tandem_retrieval._errors import in_words_of_python
from tandem_retrieval._program import flags_of


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("TANDEM_CACHE", "")


@pytest.fixture
def printed(program):
    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments), "--format", "json"], check=True, capture_output=True,
                              text=True)
        return json.loads(done.stdout)
    return run


@pytest.fixture
def other_model(tiny_model, tmp_path):
    """The tiny model with the first numbers of each embedding only."""
    folder = tmp_path / "other"
    shutil.copytree(tiny_model, folder)
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"truncate_dim": 8}))
    return str(folder)


def test_compare(tiny_model, other_model, beir, printed, tmp_path):
    found = tandem.compare(tandem.Model(tiny_model), other_model, beir, ["mrr", "ndcg@10"], permutations=1000, seed=2)
    assert found == printed("compare", tiny_model, other_model, "--dataset", beir, "--measures", "mrr,ndcg@10",
                            "--permutations", 1000, "--seed", 2)
    assert set(found["systems"][0]["measures"]) == {"mrr", "ndcg@10"} and found["queries"] == 20
    third = shutil.copytree(other_model, tmp_path / "third")
    more = tandem.compare(tiny_model, other_model, beir, "mrr", more=[third])
    assert [system["system"] for system in more["systems"]] == [other_model, str(third)]
    with pytest.raises(tandem.UsageError, match="nosuch"):
        tandem.compare(tiny_model, other_model, beir, "nosuch")
    with pytest.raises(TypeError, match="model_a is of the type int"):
        tandem.compare(3, other_model, beir)


def test_calibrate(tiny_model, beir, printed, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(tiny_model, copy)
    dry = tandem.calibrate(str(copy), beir, dry_run=True)
    assert not (copy / "tandem.json").exists()
    assert dry == printed("calibrate", copy, "--dataset", beir, "--dry-run") and dry["queries"] == 20
    assert tandem.calibrate(tandem.Model(copy), beir, method="platt") == dry
    assert 0 < tandem.Model(copy).probabilities([0.5])[0] < 1
    with pytest.raises(tandem.DataError):
        tandem.calibrate(copy, beir, split="nosuch")


def test_thresholds(tiny_model, beir, printed):
    found = tandem.thresholds(tiny_model, beir, {"results": 1, "recall": 0.5}, precision="fp32")
    assert [one["wish"] for one in found] == ["results=1", "recall=0.5"]
    assert found == printed("evaluate", "--model", tiny_model, "--dataset", beir, "--thresholds",
                            "results=1,recall=0.5")["thresholds"]
    assert tandem.thresholds(tiny_model, beir, "results=1") == found[:1]
    with pytest.raises(tandem.UsageError):
        tandem.thresholds(tiny_model, beir, "results=many")


def test_mine_prune_and_score(tiny_model, rows, printed, tmp_path):
    lines = tmp_path / "rows.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir(), theirs.mkdir()

    found = tandem.mine(tiny_model, rows, ours / "mined.jsonl", negatives=2, range="0:5")
    assert found == printed("mine", "--model", tiny_model, "--dataset", lines, "--output", theirs / "mined.jsonl",
                            "--negatives", 2, "--range", "0:5")
    found = tandem.prune(iter(rows), tandem.Model(tiny_model), 0.5, ours / "pruned.jsonl", review=2)
    assert found == printed("prune", lines, "--model", tiny_model, "--keep", 0.5, "--output", theirs / "pruned.jsonl",
                            "--review", 2)
    found = tandem.score(tiny_model, ours / "mined.jsonl", ours / "scored.jsonl", "teacher")
    assert found == printed("score", "--model", tiny_model, "--pairs", theirs / "mined.jsonl", "--as", "teacher",
                            "--output", theirs / "scored.jsonl")
    names = {path.name for path in theirs.iterdir()}
    assert names == {path.name for path in ours.iterdir()} >= {"mined.jsonl", "pruned.jsonl", "scored.jsonl"}
    for name in names:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes()
    with pytest.raises(tandem.UsageError, match="mined.jsonl"):
        tandem.mine(tiny_model, rows, ours / "mined.jsonl", range="0:5")
    with pytest.raises(tandem.DataError) as caught:
        tandem.mine(tiny_model, [*rows, {"query": "a"}], ours / "other.jsonl")
    assert (caught.value.file, caught.value.line) == ("data", 41) and str(caught.value).startswith("data:41: ")


def test_an_unknown_flag_is_the_programs_to_refuse(tiny_model, rows, tmp_path):
    with pytest.raises(tandem.UsageError, match="unknown argument negativs; did you mean negatives[?]"):
        tandem.mine(tiny_model, rows, tmp_path / "mined.jsonl", negativs=2)


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda m, rows: tandem.mine(m, rows, ""), tandem.UsageError, "output is empty; expected a path"),
    (lambda m, rows: tandem.mine("", rows, "o"), tandem.UsageError, "model is empty"),
    (lambda m, rows: tandem.mine(m, "", "o"), tandem.UsageError, "data is empty"),
    (lambda m, rows: tandem.mine(m, rows, "a\0b"), tandem.UsageError, r"output is 'a\\x00b', which has a zero byte"),
    (lambda m, rows: tandem.mine(m, rows, "o", run="a\0b"), tandem.UsageError, "run is .*a zero byte"),
    (lambda m, rows: tandem.mine(m, rows, "o", dataset="x"), TypeError, "dataset is the argument data here"),
    (lambda m, rows: tandem.mine(m, rows, "o", format="tsv"), TypeError, "format is not for Python"),
    (lambda m, rows: tandem.mine(m, rows, "o", range={0: 1}), TypeError, "range is of the type dict"),
    (lambda m, rows: tandem.score(m, rows, "o", "teacher", as_="grades"), TypeError, "as_ is the argument kind here"),
    (lambda m, rows: tandem.score(m, rows, "o", None), TypeError, "kind is of the type NoneType; expected str"),
    (lambda m, rows: tandem.prune(rows, m, "half", "o"), TypeError, "keep is of the type str; expected a number"),
    (lambda m, rows: tandem.prune(rows, m, float("nan"), "o"), tandem.UsageError, "keep is nan; expected a number from 0 "),
    (lambda m, rows: tandem.thresholds(m, "d", [3]), TypeError, "one of targets is of the type int"),
    (lambda m, rows: tandem.calibrate(m, None), TypeError, "data is of the type NoneType; expected str or a path"),
    (lambda m, rows: tandem.compare(m, "", "d"), tandem.UsageError, "model_b is empty"),
    (lambda m, rows: tandem.compare(m, "\ud800", "d"), tandem.UsageError, "model_b is .* half of a surrogate pair"),
    (lambda m, rows: tandem.compare(m, m, "d", more=3), TypeError, "more is of the type int; expected a list of models"),
    (lambda m, rows: tandem.thresholds(m, "d", 3), TypeError, "targets is of the type int"),
])
def test_bad_arguments(tiny_model, rows, tmp_path, monkeypatch, call, error, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        call(tiny_model, rows)
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_begins_with_a_hyphen_is_no_flag(tiny_model, beir, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(tiny_model, "-model")
    Path("--rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert tandem.prune("--rows.jsonl", "-model", 0.5, "-half.jsonl")["kept_pairs"] == 20
    shutil.copytree(tiny_model, "-copy")
    assert tandem.compare("-model", tandem.Model("-copy"), beir, "mrr")["queries"] == 20
    assert tandem.calibrate("-model", beir, dry_run=True)["queries"] == 20


def test_errors_name_arguments_of_python(tiny_model, rows, tmp_path):
    with pytest.raises(tandem.UsageError, match=r"range='5:2' is empty"):
        tandem.mine(tiny_model, rows, tmp_path / "mined.jsonl", range="5:2")
    for said, in_python in [
        ("a: is an index already; --replace builds it anew, `tandem index add` adds to it",
         "a: is an index already; replace=True builds it anew, `tandem index add` adds to it"),
        ("exists already; give --resume to continue the run in it, or another --output",
         "exists already; give tandem_retrieval.resume(folder) to continue the run in it, or another output="),
        ("--keep is 2; give --as teacher, or --ids 3", "keep is 2; give kind='teacher', or ids=3"),
        ("fit them: tandem calibrate m --dataset DATA; --with-model copies it",
         "fit them: tandem calibrate m --dataset DATA; copy_model=True copies it"),
        ("/tmp/--a and '--b' and x--y", "/tmp/--a and '--b' and x--y"),
    ]:
        assert in_words_of_python(said) == in_python


def test_flags():
    assert flags_of({"max_query_tokens": 64, "random": True, "no_cache": False, "labels": ["up=1", "down=0"],
                     "from_": "beir", "output": Path("a b"), "split": None}) == [
        "--max-query-tokens=64", "--random", "--labels=up=1,down=0", "--from=beir", "--output=a b"]


def test_a_program_that_is_not_there(tiny_model, rows, tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_PROGRAM", str(tmp_path / "nosuch"))
    with pytest.raises(tandem.Error, match="nosuch: cannot be started"):
        tandem.mine(tiny_model, rows, tmp_path / "mined.jsonl")
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho words >&2\nexit 9\n")
    script.chmod(0o755)
    monkeypatch.setenv("TANDEM_PROGRAM", str(script))
    with pytest.raises(tandem.Error, match="ended with 9 and gave no reason\nwords") as caught:
        tandem.mine(tiny_model, rows, tmp_path / "mined.jsonl")
    assert caught.value.exit_code == 9
