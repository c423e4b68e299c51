"""Searches for a recipe: `tune`, and what it found."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _errors
from ._arguments import flag, optional_text, optional_whole, path
from ._html import table
from ._model import Model
from ._program import flags_of
from ._recipe_process import (
    RecipeProcess,
    data_folder,
    kept_rows,
    keys_of,
    output_of,
    process_flags,
    rows_among,
    sets_of,
    settings_of,
    text_and_file,
)


class Search:
    """What a search found.

    Attributes:
        folder: its path (docs/cli/tune.md says what is in it).
        outcome: what `tandem tune --format json` prints: `choice`, with the models that may be chosen, `test`, `rows`.
    """

    def __init__(self, folder: Path, outcome: dict[str, Any]) -> None:
        self.folder = folder
        self.outcome = outcome

    @property
    def verdict(self) -> str:
        """Which model to take and why, or that it is better not to train."""
        return self.outcome["choice"]["verdict"]

    @property
    def chosen(self) -> dict[str, Any] | None:
        """The model that was chosen: `name`, `value`, `gain`, `half_width`, `holm_p`, ...; None: do not train."""
        choice = self.outcome["choice"]
        return choice["arms"][choice["chosen"]] if "chosen" in choice else None

    @property
    def recipe(self) -> Path | None:
        """The recipe of the choice, for `train`; None where there is none."""
        return self.folder / "recipe.toml" if self.chosen is not None else None

    @property
    def page(self) -> Path:
        """The HTML page of the search."""
        return self.folder / "tune.html"

    def model(self, **options) -> Model:
        """Opens the model of the choice, with the options of `Model`; of `tune.retrain` the one trained again.

        Raises:
            UsageError: the verdict is not to train.
        """
        if self.chosen is None:
            raise _errors.UsageError(f"{self.folder}: there is no model: {self.verdict}")
        again = [row for row in self.outcome["rows"] if row["event"] == "retrained"]
        return Model(self.folder / (again[0] if again else self.chosen)["model"], **options)

    def __repr__(self) -> str:
        return f"{self.folder}: {self.verdict}"

    def _repr_html_(self) -> str:
        choice = self.outcome["choice"]
        rows = [("base", f"{choice['base']:.4f}", "", "")]
        rows += [(arm["name"], f"{arm['value']:.4f}", f"{arm['gain']:+.4f} ± {arm['half_width']:.4f}",
                  f"{arm['holm_p']:.4f}") for arm in choice["arms"]]
        return table(("model", "dev", "gain", "Holm p"), rows, [self.verdict])


def tune(
    recipe: Mapping[str, Any] | str | os.PathLike[str],
    *,
    data: Any = None,
    validation: Any = None,
    output: str | os.PathLike[str] | None = None,
    budget: str | None = None,
    resume: bool = False,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    threads: int | None = None,
    precision: str | None = None,
    device: str | None = None,
    ignore_limits: bool = False,
) -> Search:
    """Searches for a recipe and says whether to train at all: `tandem tune`, as a process of its own.

        found = tune({..., "tune": {"optimizer.learning_rate": [1e-5, 3e-5, 1e-4]}}, data=rows, output="runs/search")

    Args:
        recipe: as for `train`; its table `tune` says what is searched (docs/tuning.md).
        data, validation: as for `train`; rows are written to OUTPUT.data. A search that goes on takes paths only, and
            finds the rows that it began with there.
        output: the folder of the search, which must not exist; None: the recipe's `output` and "-tune".
        budget: what all trials are planned to take together: "90s", "30m", "2h", "5000 steps"; None: what
            Hyperband's brackets would take.
        resume: goes on with the search in the folder; all else must be as it began.
        settings, seed, threads, precision, device, ignore_limits: as for `train`.

    Raises: as `train`. After Ctrl-C `resume=True` goes on.
    """
    rows = rows_among(data, validation)
    resume = flag(resume, "resume")
    of_recipe, file = text_and_file(recipe)
    folder = Path(path(output, "output")) if output is not None else _beside(output_of(recipe))
    if resume and rows:
        name = next(iter(rows))
        raise TypeError(f"{name} is of the type {type(rows[name]).__name__}; expected a path: the rows that a search "
                        f"began with are in {data_folder(folder)}")
    written = {name: str(data_folder(folder) / f"{name}.jsonl") for name in ("data", "validation")}
    written = {name: file for name, file in written.items() if name in rows or resume and os.path.exists(file)}
    given = {"data": data, "validation": validation} | written
    sets = sets_of({**settings_of(settings), **keys_of(given["data"], given["validation"])})
    flags = {"budget": optional_text(budget, "budget"), "resume": resume, "format": "json",
             "seed": optional_whole(seed, "seed", 0, 2**64 - 1), **process_flags(threads, precision, device, ignore_limits)}
    process = RecipeProcess("tune", folder, "journal.jsonl", [file, *sets, *flags_of(flags)], of_recipe, written)
    with kept_rows(rows, process):
        return Search(folder, json.loads(process.run()))


def _beside(output: Path) -> Path:
    return output.with_name(output.name + "-tune")
