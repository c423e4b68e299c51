"""What the program does with models and data sets, with its results as dicts: `tandem COMMAND --format json`.

Each function has the main arguments of its command; `flags` takes all others, as docs/cli has them:
`positive_grade=0.5` is `--positive-grade=0.5`, `random=True` `--random`, `from_="tevatron"` `--from=tevatron`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from . import _errors
from ._evaluate import measures_text
from ._model import Model
from ._program import flags_of, run_json
from ._rows import check_rows, is_path, write_rows
from ._runs import Run


def compare(
    model_a: Model | Run | str | os.PathLike[str],
    model_b: Model | Run | str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    measures: str | Iterable[str] | None = None,
    *,
    more: Iterable[Model | Run | str | os.PathLike[str]] = (),
    **flags,
) -> dict[str, Any]:
    """Says whether models or runs differ from the first by more than chance, and where.

    Args:
        model_a, model_b: a Model, a training Run (its model), a model folder, a folder of `tandem train --seeds`, or a
            file of results as TREC has them. Models are compared with the settings of their folders.
        data: a BEIR folder; of files of results `qrels="FILE"` will do.
        measures: as for `evaluate`; None: the command's.
        more: further systems, which are compared with the first too.
        flags: those of docs/cli/compare.md.

    Returns:
        docs/evaluation.md#comparing: "recommendation", and for each of "systems" and measures "difference", "low",
        "high", "p", "holm_p", "verdict", ...
    """
    systems = [_folder(system) for system in (model_a, model_b, *more)]
    named = measures_text(measures) if measures is not None else None
    return run_json(["compare", *systems, *flags_of({"dataset": data, "measures": named, **flags})])


def calibrate(model: Model | Run | str | os.PathLike[str], data: str | os.PathLike[str], split: str = "dev",
              **flags) -> dict[str, Any]:
    """Fits how a model's scores become probabilities, and keeps that in its folder (`dry_run=True`: does not).

    Open the model anew for `Model.probabilities`.

    Args:
        model: a model or its folder.
        data: a BEIR folder, of whose `split` the judgements are fitted to.
        flags: those of docs/cli/calibrate.md: method, depth, dry_run, ...

    Returns:
        "queries", "positives", and of each of "methods" its errors of calibration.
    """
    return run_json(["calibrate", _folder(model), *flags_of({"dataset": data, "split": split, **flags})])


def thresholds(model: Model | Run | str | os.PathLike[str], data: str | os.PathLike[str],
               targets: str | Mapping[str, float] | Iterable[str], **flags) -> list[dict[str, Any]]:
    """Finds the scores at which results are cut to reach targets.

    Args:
        model: a model or its folder.
        data: a BEIR folder.
        targets: {"precision": 0.9, "results": 3}, or texts as "precision=0.9"; also "recall" and "fpr".
        flags: those of docs/cli/evaluate.md.

    Returns:
        For each target "wish", "met", and "threshold", "precision", "recall", "fpr" and "results", each with "value",
        "low" and "high".

    Raises:
        CheckFailed: a target cannot be reached.
    """
    if isinstance(targets, Mapping):
        targets = [f"{name}={value}" for name, value in targets.items()]
    asked = targets if isinstance(targets, str) else ",".join(targets)
    return run_json(["evaluate", *flags_of({"model": _folder(model), "dataset": data, "thresholds": asked,
                                            **flags})])["thresholds"]


def mine(model: Model | Run | str | os.PathLike[str] | None, data: Any, output: str | os.PathLike[str],
         **flags) -> dict[str, Any]:
    """Writes a data set with hard negatives for its queries to `output`.

    Args:
        model: ranks the documents; None with `run="FILE"`, results of another program.
        data: a BEIR folder, a file of training lines, or rows as for `train`.
        output: a file, or a folder (`to="beir"`), that must not exist.
        flags: those of docs/cli/mine.md: negatives=5, range="10:200", relative_margin=0.05, ...

    Returns:
        The summary: "queries", "negatives", "mean_score", ...
    """
    ranks = None if model is None else _folder(model)
    with _readable(data) as path:
        return run_json(["mine", *flags_of({"model": ranks, "dataset": path, "output": output, **flags})])


def prune(data: Any, model: Model | Run | str | os.PathLike[str], keep: float, output: str | os.PathLike[str],
          **flags) -> dict[str, Any]:
    """Writes a data set without the pairs that a model scores lowest to `output`.

    Args:
        data: a BEIR folder, a file of training lines, or rows as for `train`.
        keep: share of the pairs that is kept, those that score highest.
        output: a file or folder, as the data are, that must not exist.
        flags: those of docs/cli/prune.md.

    Returns:
        The report: "pairs", "kept_pairs", "histograms", "lowest", ...
    """
    with _readable(data) as path:
        return run_json(["prune", path, *flags_of({"model": _folder(model), "keep": keep, "output": output, **flags})])


def score(model: Model | Run | str | os.PathLike[str], data: Any, output: str | os.PathLike[str],
          kind: Literal["grades", "teacher"], **flags) -> dict[str, Any]:
    """Writes a data set whose pairs have a model's scores to `output`.

    Args:
        model: a model or its folder, or the folder of a cross-encoder.
        data: a BEIR folder, a file of training lines, or rows as for `train`.
        output: a file or folder that must not exist.
        kind: "grades" in [0, 1], or scores as a "teacher" has them.
        flags: those of docs/cli/score.md.

    Returns:
        The report: "pairs", "lowest", "mean", "highest", ...
    """
    with _readable(data) as path:
        return run_json(["score", *flags_of({"model": _folder(model), "pairs": path, "as": kind, "output": output,
                                             **flags})])


def _folder(model: Any) -> str:
    if isinstance(model, Model):
        return model.folder
    if isinstance(model, Run):
        return str(model.folder / "model")
    if is_path(model):
        return os.fspath(model)
    raise TypeError(f"model is of the type {type(model).__name__}; expected a Model, a Run or a path")


@contextmanager
def _readable(data: Any) -> Iterator[str]:
    """Gives the path of data; rows are in a file that is gone afterwards, and errors call it `data`."""
    check_rows(data, "data")
    if is_path(data):
        yield os.fspath(data)
        return
    with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        path = str(Path(folder) / "data.jsonl")
        write_rows(data, Path(path), "data")
        try:
            yield path
        except _errors.Error as error:
            if getattr(error, "file", None) == path:
                error.file = "data"
            error.args = (str(error).replace(path, "data"),)
            raise
