"""Training from Python: what it leaves is what the program leaves, and what goes wrong leaves the interpreter whole."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tandem_retrieval as tandem


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("TANDEM_CACHE", "")


@pytest.fixture
def recipe(program, tiny_model):
    return {
        "model": {"base": tiny_model, "max_query_tokens": 16},
        "objective": {"name": "infonce", "temperature": 0.05},
        "optimizer": {"learning_rate": 1e-3},
        "schedule": {"name": "constant"},
        "train": {"steps": 40, "batch": 8, "checkpoint_every": 10},
        "validation": {"holdout": "8", "every": 10, "measure": "mrr@10", "patience": 0},
        "logging": {"every": 2},
    }


def lines_of(folder, name="metrics.jsonl"):
    return [json.loads(line) for line in (Path(folder) / name).read_text().splitlines()]


def bytes_of(folder):
    return {name: (Path(folder) / name).read_bytes()
            for name in ("metrics.jsonl", "recipe.resolved.toml", "model/model.safetensors", "model/tandem.json")}


def test_a_run_has_its_metrics_model_and_page(recipe, rows, tmp_path):
    seen = []
    run = tandem.train(recipe, data=rows, output=tmp_path / "run", callback=seen.append)
    assert seen == lines_of(run.folder) == run.rows
    assert run.finished and run.step == 40
    steps, losses = run.metrics["loss"]
    assert steps.tolist() == list(range(2, 41, 2))
    assert losses.tolist() == [row["loss"] for row in run.rows if row["event"] == "step"]
    assert run.metrics["validation_mrr@10"].steps.tolist() == [0, 10, 20, 30, 40]
    assert {"step", "best", "event"}.isdisjoint(run.metrics) and "gradient_norm" in run.metrics
    assert run.timing["seconds"].steps.tolist() == steps.tolist()
    step, measure, value = run.best
    assert measure == "mrr@10" and value == run.metrics["validation_mrr@10"].values.max() == run.rows[-1]["best_mrr@10"]
    assert run.model().folder == str(run.folder / "model")
    assert run.model(dimensions=8).encode(["a", "b"]).shape == (2, 8)
    page = run.report()
    assert page == run.folder / "report" / "page" / "index.html" and "mrr@10" in page.read_text()
    shown = repr(run)
    assert f"{run.folder}, finished at step 40" in shown and f"{losses[-1]:.4f} at step 40" in shown
    assert f"before training, {value:.4f} at step {step}" in shown and len(shown.splitlines()) <= 8
    assert "<table>" in run._repr_html_() and f"{losses[-1]:.4f} at step 40" in run._repr_html_()
    assert repr(tandem.Run(str(run.folder))) == shown


def test_it_trains_to_the_bytes_of_the_program(recipe, rows, program, tiny_model, tmp_path):
    run = tandem.train(recipe, data=rows, output=tmp_path / "ours", seed=3)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (theirs / "recipe.toml").write_text(textwrap.dedent(f"""
        seed = 3
        [model]
        base = "{tiny_model}"
        max_query_tokens = 16
        [data]
        train = "{theirs}/data.jsonl"
        [objective]
        name = "infonce"
        temperature = 0.05
        [optimizer]
        learning_rate = 0.001
        [schedule]
        name = "constant"
        [train]
        steps = 40
        batch = 8
        checkpoint_every = 10
        [validation]
        holdout = "8"
        every = 10
        measure = "mrr@10"
        patience = 0
        [logging]
        every = 2
        """))
    subprocess.run([program, "train", str(theirs / "recipe.toml"), "--output", str(theirs / "run")], check=True,
                   capture_output=True)
    assert bytes_of(run.folder) == bytes_of(theirs / "run")
    again = tandem.train(theirs / "recipe.toml", output=tmp_path / "again", data=theirs / "data.jsonl")
    assert bytes_of(again.folder) == bytes_of(run.folder)
    other = tandem.train(recipe, data=rows, output=tmp_path / "other", seed=4)
    assert bytes_of(other.folder)["metrics.jsonl"] != bytes_of(run.folder)["metrics.jsonl"]


# With this rate and decay each step multiplies the weights by -9.
DIVERGES = {"optimizer": {"learning_rate": 10.0, "weight_decay": 1.0}, "train": {"steps": 400, "batch": 8},
            "schedule": {"name": "constant", "warmup": 0}}


class Stop(Exception):
    pass


def stop_at(step, seen):
    def callback(row):
        seen.append(row)
        if row["event"] == "step" and row["step"] >= step:
            raise Stop(f"at {row['step']}")
    return callback


def slowed(recipe):
    """So many steps that a signal comes before the last."""
    return {**recipe, "train": {**recipe["train"], "steps": 1500, "checkpoint_every": 500},
            "validation": {**recipe["validation"], "every": 500}, "logging": {"every": 10}}


def test_a_stopped_run_resumes_to_the_bytes_of_one_that_was_not(recipe, rows, tmp_path):
    recipe = slowed(recipe)
    whole = tandem.train(recipe, data=rows, output=tmp_path / "whole")
    seen, later = [], []
    with pytest.raises(Stop, match="at"):
        tandem.train(recipe, data=rows, output=tmp_path / "run", callback=stop_at(100, seen))
    stopped = tandem.Run(tmp_path / "run")
    assert not stopped.finished and 100 <= stopped.step < 1500
    assert "not finished at step" in repr(stopped)
    assert stopped.model().encode_query(["which?"]).shape[0] == 1  # the best until then
    resumed = stopped.resume(callback=later.append)
    assert bytes_of(resumed.folder) == bytes_of(whole.folder)
    assert later and later == resumed.rows[-len(later):]
    # What was written between the last call of the first callback and the stop was given to none.
    assert seen == resumed.rows[: len(seen)] and seen[-1]["step"] < later[0]["step"]
    assert tandem.resume(resumed.folder, callback=later.append).finished
    assert bytes_of(resumed.folder) == bytes_of(whole.folder) and later[-1]["event"] == "finished"


def test_a_killed_run_gives_the_rows_after_its_checkpoint_again(recipe, rows, tmp_path):
    recipe = slowed(recipe)
    folder = tmp_path / "run"

    def kill(row):
        if row["step"] >= 550:
            pid = int(re.search(r"\d+", (folder / "run.lock").read_text()).group())
            os.kill(pid, signal.SIGKILL)

    with pytest.raises(tandem.Error, match="tandem train was ended by SIGKILL") as caught:
        tandem.train(recipe, data=rows, output=folder, callback=kill)
    assert caught.value.exit_code == 137
    checkpoint = max(int(path.name[5:]) for path in (folder / "checkpoints").glob("step-*"))
    assert lines_of(folder)[-1]["step"] > checkpoint
    seen = []
    run = tandem.resume(folder, callback=seen.append)
    assert seen == [row for row in run.rows if row["step"] > checkpoint]
    assert run.finished


def test_a_longer_run(recipe, rows, tmp_path):
    recipe["schedule"]["warmup"] = 2  # the default is a share of the run
    longer = {**recipe, "train": {**recipe["train"], "steps": 60}}
    whole = tandem.train(longer, data=rows, output=tmp_path / "whole")
    run = tandem.train(recipe, data=rows, output=tmp_path / "run")
    grown = run.resume(settings={"train.steps": 60})
    assert grown.step == 60 and run.step == 40
    assert bytes_of(grown.folder)["metrics.jsonl"] == bytes_of(whole.folder)["metrics.jsonl"]


SIGNALLED = """
    import json, os, signal, sys, threading
    import tandem_retrieval as tandem
    recipe, folder, times = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    rows = [{"query": f"question {i}", "positive": f"answer {i}"} for i in range(40)]
    def callback(row):
        if row["step"] >= 100 and not callback.sent:
            callback.sent = True
            os.kill(os.getpid(), signal.SIGINT)
    callback.sent = False
    try:
        tandem.train(recipe, data=rows, output=folder, callback=callback)
    except KeyboardInterrupt as error:
        print(error)
    run = tandem.Run(folder)
    print(run.finished, run.step >= 100, tandem.Model(recipe["model"]["base"]).encode(["goes on"]).shape)
"""


def test_ctrl_c_saves_and_raises(recipe, rows, tmp_path):
    folder = tmp_path / "run"
    arguments = [sys.executable, "-c", textwrap.dedent(SIGNALLED), json.dumps(slowed(recipe)), str(folder), "1"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    saved, state = done.stdout.splitlines()
    assert re.fullmatch(rf"interrupted; {folder}/checkpoints/step-\d+ is saved, continue with "
                        r"tandem_retrieval\.resume\(folder\); .*", saved)
    assert state == "False True (1, 32)"
    assert tandem.resume(folder).step == 1500


def test_the_terminals_ctrl_c_is_one_signal_for_the_program(recipe, tmp_path):
    """A terminal signals the whole foreground group: a child in it would get two signals and not save."""
    folder = tmp_path / "run"
    code = SIGNALLED.replace("os.kill(os.getpid(), signal.SIGINT)", "os.killpg(os.getpgid(0), signal.SIGINT)")
    arguments = [sys.executable, "-c", textwrap.dedent(code), json.dumps(slowed(recipe)), str(folder), "1"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, start_new_session=True)
    assert "is saved, continue with tandem_retrieval.resume(folder)" in done.stdout, done.stderr


def test_a_program_whose_python_is_killed_ends_soon(recipe, tmp_path):
    folder = tmp_path / "run"
    endless = {**slowed(recipe), "train": {"steps": 10_000_000, "batch": 8}}
    code = SIGNALLED.replace("os.kill(os.getpid(), signal.SIGINT)", "os.kill(os.getpid(), signal.SIGKILL)")
    arguments = [sys.executable, "-c", textwrap.dedent(code), json.dumps(endless), str(folder), "1"]
    assert subprocess.run(arguments, capture_output=True, timeout=120).returncode == -signal.SIGKILL
    pid = int(re.search(r"\d+", (folder / "run.lock").read_text()).group())
    until = time.monotonic() + 40
    while time.monotonic() < until and Path(f"/proc/{pid}/exe").exists():
        time.sleep(0.2)
    assert not Path(f"/proc/{pid}/exe").exists()


def test_two_trainings_into_one_folder(recipe, rows, tmp_path):
    refused = []

    def second(row):
        if not refused:
            with pytest.raises(tandem.UsageError) as caught:
                tandem.train(recipe, data=rows, output=tmp_path / "run")
            assert (tmp_path / "run.data" / "data.jsonl").exists()
            refused.append(str(caught.value))

    run = tandem.train(slowed(recipe), data=rows, output=tmp_path / "run", callback=second)
    assert "is training in this run folder; wait until it has ended or stop it" in refused[0]
    kept = (tmp_path / "run.data" / "data.jsonl").read_bytes()
    with pytest.raises(tandem.UsageError, match="exists already; give tandem_retrieval.resume.folder. to continue"):
        tandem.train(recipe, data=[{"query": "other", "positive": "rows"}], output=tmp_path / "run")
    assert (tmp_path / "run.data" / "data.jsonl").read_bytes() == kept
    assert tandem.Run(run.folder).finished


def test_a_folder_of_rows_of_a_training_that_began_is_not_overwritten(recipe, rows, tmp_path):
    (tmp_path / "run.data").mkdir()
    with pytest.raises(tandem.UsageError, match=r"run\.data: exists already, and may hold the rows of another run"):
        tandem.train(recipe, data=rows, output=tmp_path / "run")


def test_errors_are_the_programs(recipe, rows, tmp_path):
    def train(changed, **options):
        return tandem.train({**recipe, **changed}, **{"data": rows, "output": tmp_path / "run", **options})

    with pytest.raises(tandem.RecipeError) as caught:
        train({"objective": {"name": "infonce", "temperatur": 1}})
    assert str(caught.value).startswith("recipe: objective.temperatur is unknown")
    assert (caught.value.key, caught.value.file, caught.value.line) == ("objective.temperatur", None, None)
    file = tmp_path / "r.toml"
    file.write_text("[model]\nbase = 3\n")
    with pytest.raises(tandem.RecipeError) as caught:
        tandem.train(file, output=tmp_path / "run")
    assert (caught.value.file, caught.value.line, caught.value.column, caught.value.exit_code) == (str(file), 2, 8, 2)
    for options in ({}, {"output": tmp_path / "run"}):
        with pytest.raises(tandem.Error, match=r"nosuch\.toml") as caught:
            tandem.train(tmp_path / "nosuch.toml", **options)
        assert caught.value.exit_code in (2, 3)
    with pytest.raises(tandem.ModelError) as caught:
        train({"model": {"base": str(tmp_path / "nosuch")}})
    assert caught.value.exit_code == 4 and str(tmp_path / "nosuch") in caught.value.file
    with pytest.raises(tandem.NumericError, match="must be finite") as caught:
        train(DIVERGES, output=tmp_path / "diverged")
    assert caught.value.exit_code == 5 and "No checkpoint had been saved yet" in str(caught.value)
    with pytest.raises(tandem.UsageError, match="there is no run folder"):
        train({}, output=None)
    with pytest.raises(tandem.DataError) as caught:
        train({}, data=tmp_path / "nosuch.jsonl", output=tmp_path / "other")
    assert (caught.value.file, caught.value.exit_code) == (str(tmp_path / "nosuch.jsonl"), 3)
    with pytest.raises(tandem.UsageError, match="expected a run folder"):
        tandem.Run(recipe["model"]["base"])
    with pytest.raises(tandem.UsageError, match="resume takes the folder of a run that has begun"):
        tandem.resume(tmp_path / "nosuch")


def test_rows_that_the_reader_refuses(recipe, rows, tmp_path):
    def error_of(data):
        with pytest.raises(tandem.DataError) as caught:
            tandem.train(recipe, data=data, output=tmp_path / "run")
        assert not (tmp_path / "run.data").exists() and not (tmp_path / "run").exists()
        return caught.value

    error = error_of([{"Frage": "a", "Antwort": "b"}])
    assert str(error).startswith("data:1: has no query; expected one of the columns anchor, query,")
    assert "found Frage, Antwort" in str(error) and (error.file, error.line) == ("data", 1)
    error = error_of([*rows, {"query": "a", "positive": 3}])
    assert (error.file, error.line) == ("data", 41) and '"positive" is an integer' in str(error)
    assert "data" == error_of([]).file


def test_validation_rows_and_a_generator(recipe, rows, tmp_path):
    recipe["validation"].pop("holdout")
    run = tandem.train(recipe, data=(row for row in rows), validation=rows[:10], output=tmp_path / "run")
    assert (tmp_path / "run.data" / "validation.jsonl").exists()
    assert run.summary["validations"][0]["step"] == 0
    with pytest.raises(TypeError, match="expected a path: the rows that a run began with are in"):
        tandem.resume(run.folder, data=rows)


def test_settings_win_and_are_kept(recipe, rows, tmp_path):
    run = tandem.train(recipe, data=rows, output=tmp_path / "run", settings={"train.steps": 4, "logging.every": 1},
                       threads=1)
    assert run.step == 4
    given = (run.folder / "recipe.given.toml").read_text()
    assert "--set train.steps=4" in given and "--threads 1" in given
    assert tandem.resume(run.folder).step == 4


def test_a_failed_training_leaves_the_interpreter_whole(recipe, rows, model, tmp_path):
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)]
    before = model.encode(["a", "b"]).tobytes()

    def state():
        # Of children: others may be there, as multiprocessing's tracker of what earlier tests shared.
        children = [task.read_text() for task in sorted(Path("/proc/self/task").glob("*/children"))]
        return sorted(os.listdir("/proc/self/fd")), children, threading.active_count(), tandem.threads()

    tandem.Run(tandem.train(recipe, data=rows, output=tmp_path / "first").folder)
    begun = state()
    for changed, kind in ((DIVERGES, tandem.NumericError), ({"objective": {"name": "nosuch"}}, tandem.RecipeError)):
        with pytest.raises(kind):
            tandem.train({**recipe, **changed}, data=rows, output=tmp_path / kind.__name__)
    assert state() == begun
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)] == handlers
    assert model.encode(["a", "b"]).tobytes() == before


def test_messages_are_records_of_the_logger(recipe, rows, tmp_path, caplog):
    with caplog.at_level("DEBUG", "tandem_retrieval"):
        tandem.train({**recipe, "schedule": {"name": "linear", "warmup": 100}}, data=rows, output=tmp_path / "run")
    for level, begin in (("WARNING", "schedule.warmup is 100 steps"), ("INFO", "training on 32 queries"),
                         ("DEBUG", "train ")):
        assert any(record.levelname == level and record.getMessage().startswith(begin) for record in caplog.records)


def test_runs_of_several_threads(recipe, rows, tmp_path):
    runs = {}

    def work(number):
        runs[number] = tandem.train(recipe, data=rows, output=tmp_path / f"run{number}", threads=1)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({(run.folder / "metrics.jsonl").read_bytes() for run in runs.values()}) == 1 and len(runs) == 3


@pytest.mark.parametrize("given", [None, 3, b"x", ["a"]])
def test_what_is_no_recipe(given):
    with pytest.raises(TypeError, match="recipe is of the type"):
        tandem.train(given, output="nowhere")


def test_metrics_that_are_not_finite_are_nan(recipe, rows, tmp_path):
    run = tandem.train(recipe, data=rows, output=tmp_path / "run")
    metrics = run.folder / "metrics.jsonl"
    metrics.write_text(metrics.read_text().replace('"gradient_norm":', '"gradient_norm":null,"norm":', 1))
    opened = tandem.Run(run.folder)
    assert np.isnan(opened.metrics["gradient_norm"].values[0])
    assert not np.isnan(opened.metrics["gradient_norm"].values[1:]).any()
