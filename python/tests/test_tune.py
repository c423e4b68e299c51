"""Searches from Python find what the program finds, and their rows are where a search that goes on finds them."""

import json
import subprocess
from pathlib import Path

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
        "train": {"steps": 3, "batch": 8},
        "validation": {"holdout": "12", "measure": "mrr@10", "patience": 0},
        "tune": {"optimizer.learning_rate": [1e-5, 1e-3], "rungs": 1},
    }


def test_a_search_is_that_of_the_program(recipe, rows, program, tmp_path):
    found = tandem.tune(recipe, data=rows, output=tmp_path / "search", budget="6 steps", seed=3)
    assert [arm["name"] for arm in found.outcome["choice"]["arms"]] == ["trial 1", "trial 2"]
    assert found.verdict in repr(found) and found.verdict in found._repr_html_() and found.page.exists()
    files = sorted(path.name for path in (tmp_path / "search.data").iterdir())
    assert files == ["data.jsonl"]
    recipe_file = tmp_path / "recipe.toml"
    recipe_file.write_text(f"""
        seed = 3
        [model]
        base = "{recipe['model']['base']}"
        max_query_tokens = 16
        [data]
        train = "{tmp_path / 'search.data' / 'data.jsonl'}"
        [objective]
        name = "infonce"
        temperature = 0.05
        [train]
        steps = 3
        batch = 8
        [validation]
        holdout = "12"
        measure = "mrr@10"
        patience = 0
        [tune]
        rungs = 1
        optimizer.learning_rate = [1e-5, 1e-3]
    """)
    printed = subprocess.run([program, "tune", recipe_file, "--output", tmp_path / "theirs", "--budget", "6 steps",
                              "--format", "json"], check=True, capture_output=True, text=True)
    assert json.loads(printed.stdout) == found.outcome
    if found.chosen is None:
        assert found.recipe is None
        with pytest.raises(tandem.UsageError, match="there is no model: do not train"):
            found.model()
    else:
        assert Path(found.model().folder).parent.parent.parent.name == "trials"


def test_a_search_that_goes_on_has_the_rows_that_it_began_with(recipe, rows, tmp_path):
    output = tmp_path / "search"
    found = tandem.tune(recipe, data=rows, output=output, budget="6 steps")
    journal = (output / "journal.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in journal if '"event":"end"' not in line and '"event":"choice"' not in line]
    assert len(kept) < len(journal)
    (output / "journal.jsonl").write_text("".join(kept))
    again = tandem.tune(recipe, output=output, budget="6 steps", resume=True)
    assert again.outcome == found.outcome
    with pytest.raises(TypeError, match="data is of the type list; expected a path: the rows that a search began with"):
        tandem.tune(recipe, data=rows, output=output, budget="6 steps", resume=True)


def test_a_search_that_cannot_begin_leaves_nothing(recipe, rows, tmp_path):
    with pytest.raises(tandem.UsageError, match="budget is less than one trial takes"):
        tandem.tune(recipe, data=rows, output=tmp_path / "search", budget="2 steps")
    assert not (tmp_path / "search.data").exists()
    with pytest.raises(tandem.RecipeError, match="^recipe: .*is unknown"):
        tandem.tune({**recipe, "tune": {"train.stepps": [1, 2]}}, data=rows, output=tmp_path / "search")
    with pytest.raises(TypeError, match="budget"):
        tandem.tune(recipe, data=rows, output=tmp_path / "search", budget=60)
    with pytest.raises(tandem.UsageError, match="exists already"):
        (tmp_path / "used").mkdir()
        (tmp_path / "used" / "x").write_text("x")
        tandem.tune(recipe, data=rows, output=tmp_path / "used")
