"""Recipes as dicts are the TOML that a user would have written."""

from pathlib import Path

import numpy as np
import pytest

import tandem_retrieval as tandem
from tandem_retrieval._recipe import toml_text, toml_value

RECIPE = {
    "seed": 3,
    "output": Path("runs/mine"),
    "model": {"base": "a \"b\"\\c\n\t\x7f\x01 東京", "dimensions": [384, 128], "lora": {"deep": {"er": True}}},
    "data": {"source": [{"path": "a", "weight": 1.5}, {"path": "b", "labels": ["up=1", "down=0"]}], "mixture": "weight"},
    "optimizer": {"learning_rate": np.float64(2e-05), "steps": np.int64(7), "list": np.array([1, 2])},
    "train.batch": 8,
    "a key": {"b.c d": -0.0},
}


def test_tomllib_reads_what_was_given():
    tomllib = pytest.importorskip("tomllib")
    expected = {**RECIPE, "output": "runs/mine", "train": {"batch": 8},
                "optimizer": {"learning_rate": 2e-05, "steps": 7, "list": [1, 2]}}
    del expected["train.batch"]
    assert tomllib.loads(toml_text(RECIPE)) == expected


def test_a_recipe_by_hand():
    assert toml_text({"model": {"base": "m"}, "seed": 1, "data": {"source": [{"path": "a"}, {"path": "b"}]}}) == (
        'seed = 1\n[model]\nbase = "m"\n[data]\n[[data.source]]\npath = "a"\n[[data.source]]\npath = "b"\n')
    assert toml_value(1e-5, "k") == "1e-05" and toml_value(True, "k") == "true"


def test_what_a_recipe_has_no_place_for():
    with pytest.raises(TypeError, match=r"model\.base is of the type NoneType.*; leave the key out"):
        toml_text({"model": {"base": None}})
    with pytest.raises(TypeError, match=r"model\.base is of the type set"):
        toml_text({"model": {"base": {1}}})
    with pytest.raises(TypeError, match="has the key 3, of the type int"):
        toml_text({"model": {3: 1}})
    with pytest.raises(tandem.UsageError, match=r"model\.base has a text with a lone surrogate"):
        toml_text({"model": {"base": "\ud800"}})
