"""Training runs: `train`, `resume`, and what their folders hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _errors
from ._arguments import optional_whole, path, word_of_path, wrong_type
from ._html import table
from ._model import Model
from ._program import flags_of, run, run_json
from ._recipe_process import (
    STDIN,
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
from ._rows import is_path
from ._run_files import Follower, read_given, read_rows

Callback = Callable[[dict[str, Any]], Any]


class Metric(NamedTuple):
    """The values of a metric, and the steps after which they were taken.

    steps: int64 [N], ascending. values: float64 [N]; NaN for a number that was not finite.
    """

    steps: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]


class Run:
    """A run folder, as it was when it was opened: of a run that trains, was stopped or is finished.

    Attributes:
        folder: its path.
        summary: what `tandem inspect` says of it: `finished`, `step`, `best`, `validations`, `checkpoints`, `bytes`, ...

    Raises:
        UsageError: the folder is no run. ModelError: it is broken.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(path(folder, "folder"))
        found = run_json(["inspect", word_of_path(folder, "folder")])
        if found.get("kind") != "training_run":
            raise _errors.UsageError(f"{self.folder}: is of the kind {found.get('kind')}; expected a run folder, as "
                                     "train(..., output=...) makes it")
        self.summary: dict[str, Any] = found

    @property
    def finished(self) -> bool:
        """Whether it came to its end and saved its model."""
        return self.summary["finished"]

    @property
    def step(self) -> int:
        """The last step that metrics.jsonl knows."""
        return self.summary.get("step", 0)

    @property
    def best(self) -> tuple[int, str, float] | None:
        """(step, measure, value) of the best validation; None without validation."""
        found = dict(self.summary.get("best") or {})
        if not found:
            return None
        step = found.pop("step")
        measure, value = next(iter(found.items()))
        return step, measure, value

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl (docs/training.md#the-learning-curve), in their order; read when first asked for."""
        return self._read("metrics.jsonl")

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """Metrics by name: `loss`, `learning_rate`, `validation_ndcg@10`, ...: every number of `rows`."""
        return _series(self.rows)

    @cached_property
    def timing(self) -> dict[str, Metric]:
        """The numbers of timing.jsonl by name: `seconds`, `tokens_per_second`, ... of the rows with a step."""
        return _series(row for row in self._read("timing.jsonl") if row.get("event") == "step")

    def _read(self, name: str) -> list[dict[str, Any]]:
        if not self.folder.is_dir():
            raise _errors.UsageError(f"{self.folder}: is no longer there; open the run where it has moved to")
        return read_rows(self.folder / name)

    def model(self, **options) -> Model:
        """Opens the best model of a run, with the options of `Model`; of a stopped one the best until then.

        Raises:
            UsageError: the run has neither come to its end nor been stopped after a step.
        """
        if not (self.folder / "model").is_dir():
            raise _errors.UsageError(f"{self.folder}: has no model yet, it stopped at step {self.step}; "
                                     f"resume({str(self.folder)!r}) goes on")
        return Model(self.folder / "model", **options)

    def report(self, data: str | os.PathLike[str] | None = None, *, output: str | os.PathLike[str] | None = None,
               **flags) -> Path:
        """Writes the HTML page of the run and returns its path: `tandem report`.

        Args:
            data: a BEIR folder that the models before and after training are measured on; None: the validation data.
            output: the page's folder; None: report/page in the run folder.
            flags: those of docs/cli/report.md.
        """
        printed = run(["report", word_of_path(self.folder, "folder"), *flags_of({"dataset": data, "output": output, **flags})])
        return Path(printed.rstrip("\n"))

    def resume(self, **options) -> Run:
        """Goes on with the run: `resume(run.folder, ...)`."""
        return resume(self.folder, **options)

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)

    def _repr_html_(self) -> str:
        return table((), self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        state = "finished" if self.finished else "not finished"
        rows = [("run", f"{self.folder}, {state} at step {self.step}")]
        rows += [(name, str(self.summary[name])) for name in ("base", "data", "objective") if name in self.summary]
        if "loss" in self.metrics:
            steps, losses = self.metrics["loss"]
            first, last = (f"{losses[i]:.4f} at step {steps[i]}" for i in (0, -1))
            rows.append(("loss", first if len(steps) == 1 else f"{first}, {last}"))
        if self.best is not None:
            step, measure, value = self.best
            before = [row[measure] for row in self.summary["validations"][:1] if row["step"] == 0 and measure in row]
            rows.append((measure, "".join(f"{value:.4f} before training, " for value in before if value is not None)
                          + f"{value:.4f} at step {step}"))
        return rows


def train(
    recipe: Mapping[str, Any] | str | os.PathLike[str],
    *,
    data: Any = None,
    validation: Any = None,
    output: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    callback: Callback | None = None,
    seed: int | None = None,
    threads: int | None = None,
    precision: str | None = None,
    device: str | None = None,
    ignore_limits: bool = False,
) -> Run:
    """Trains a model as a recipe says: `tandem train`, as a process of its own.

        run = train({"model": {"base": "models/base"}, "objective": {"name": "infonce"}}, data=rows, output="runs/mine")

    Args:
        recipe: a dict (docs/recipes.md), or the path of a TOML file.
        data: what is trained on, instead of the recipe's `data.train`: a path, or rows: a frame of pandas or polars, a
            table of pyarrow, a `datasets.Dataset`, or any iterable of dicts. Rows have the columns of
            docs/training.md#training-data and are written to OUTPUT.data/data.jsonl, where a resumed run finds them.
        validation: the same, instead of the recipe's `validation.data`.
        output: the run folder, which must not exist; None: the recipe's.
        settings: further keys of the recipe with their values, {"train.batch": 32}; they win over the recipe's.
        callback: gets each row of metrics.jsonl as a dict, while the run trains. An exception that it raises stops the
            run as Ctrl-C does and is raised then.
        seed, threads, precision, device: win over the recipe's.
        ignore_limits: begins also where memory or disk are sure to be too little.

    Returns:
        The finished run.

    Raises:
        RecipeError, DataError, ModelError, UsageError, NumericError, ...: as the program says. Of rows, `line` is the
            row's number, from 1.
        KeyboardInterrupt: after Ctrl-C, once the step is finished and a checkpoint is saved; `resume` goes on.
        TypeError: for what is neither recipe nor data.
    """
    rows = rows_among(data, validation)
    _check_callback(callback)
    of_recipe, file = text_and_file(recipe)
    folder = Path(path(output, "output")) if output is not None else output_of(recipe)
    written = {name: str(data_folder(folder) / f"{name}.jsonl") for name in rows}
    sets = sets_of({**settings_of(settings), **keys_of(written.get("data", data), written.get("validation", validation))})
    flags = {"seed": optional_whole(seed, "seed", 0, 2**64 - 1), **process_flags(threads, precision, device, ignore_limits)}
    process = _training(folder, [file, *sets, *flags_of(flags)], of_recipe, written)
    with kept_rows(rows, process):
        return _trained(process, callback)


def resume(
    folder: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    validation: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    precision: str | None = None,
    device: str | None = None,
    ignore_limits: bool = False,
) -> Run:
    """Goes on with a run that was stopped or killed, to the bytes of one that was not: `tandem train --resume`.

    The recipe, and what was given over it, are those of its recipe.given.toml.

    Args:
        folder: the run folder.
        data, validation: paths, where the data now lie elsewhere.
        settings: keys that are now others: {"train.steps": 2000} makes a longer run (docs/training.md#a-longer-run).
        callback: gets the rows of metrics that this process writes.
        threads, precision, device, ignore_limits: as for `train`; None: what the run was started with.

    Raises: as `train`.
    """
    folder = Path(path(folder, "folder"))
    _check_callback(callback)
    of_recipe, given = read_given(folder)
    for name, moved in (("data", data), ("validation", validation)):
        if moved is not None and not is_path(moved):
            raise TypeError(f"{name} is of the type {type(moved).__name__}; expected a path: the rows that a run began "
                            f"with are in {data_folder(folder)}")
    sets = sets_of({**keys_of(data, validation), **settings_of(settings)})
    flags = process_flags(threads, precision, device, ignore_limits)
    return _trained(_training(folder, [STDIN, *given, *sets, *flags_of(flags), "--resume"], of_recipe, {}), callback)


def _training(folder: Path, arguments: list[str], of_recipe: str, written: dict[str, str]) -> RecipeProcess:
    return RecipeProcess("train", folder, "recipe.given.toml", arguments, of_recipe, written)


def _trained(process: RecipeProcess, callback: Callback | None) -> Run:
    process.run(Follower(process.folder, callback).tick if callback is not None else None)
    return Run(process.folder)


def _check_callback(callback: Any) -> None:
    if callback is not None and not callable(callback):
        wrong_type(callback, "callback", "a function of a dict")


def _series(rows: Iterable[dict[str, Any]]) -> dict[str, Metric]:
    found: dict[str, tuple[list[int], list[float]]] = {}
    for row in rows:
        for name, value in row.items():
            if name == "step" or isinstance(value, bool) or not isinstance(value, (int, float, type(None))):
                continue
            steps, values = found.setdefault(name, ([], []))
            steps.append(row.get("step", 0))
            values.append(np.nan if value is None else value)
    return {name: Metric(np.array(steps, np.int64), np.array(values, np.float64))
            for name, (steps, values) in found.items()}
