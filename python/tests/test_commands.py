"""The functions that are commands of the program give what the program prints, and leave the files that it leaves."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import tandem_retrieval as tandem
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
    with pytest.raises(TypeError, match="model is of the type int"):
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
    with pytest.raises(tandem.UsageError, match="unknown flag --negativs; did you mean --negatives?"):
        tandem.mine(tiny_model, rows, tmp_path / "mined.jsonl", negativs=2)


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
