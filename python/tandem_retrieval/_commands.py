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
from ._arguments import number, path, text, word_of_path, wrong_type
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
    if isinstance(more, (str, bytes, Mapping)) or not isinstance(more, Iterable):
        wrong_type(more, "more", "a list of models")
    systems = [_word_of(model_a, "model_a"), _word_of(model_b, "model_b"), *(_word_of(one, "one of more") for one in more)]
    named = measures_text(measures) if measures is not None else None
    return run_json(["compare", *systems, *_flags(flags, dataset=("data", _optional_path(data, "data")),
                                                  measures=("measures", named))])


def calibrate(model: Model | Run | str | os.PathLike[str], data: str | os.PathLike[str], split: str = "dev",
              **flags) -> dict[str, Any]:
    """Fits how a model's scores become probabilities, and keeps that in its folder (`dry_run=True`: does not).

    With `guarantee=["recall=0.9", "precision=0.9@0.95"]` it finds thresholds that promise this of later queries instead.

    Open the model anew for `Model.probabilities`.

    Args:
        model: a model or its folder.
        data: a BEIR folder, of whose `split` the judgements are fitted to.
        flags: those of docs/cli/calibrate.md: method, depth, dry_run, guarantee, unanswerable, by, ...

    Returns:
        "queries", "positives", and of each of "methods" its errors of calibration; of guarantees "guarantees", each with
        "promise", "threshold", "queries", "loss", "nothing" and "sentence".

    Raises:
        CheckFailed: a guarantee cannot be given, as with too few queries.
    """
    return run_json(["calibrate", _word_of(model), *_flags(flags, dataset=("data", path(data, "data")),
                                                           split=("split", text(split, "split")))])


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
    if isinstance(targets, bytes) or not isinstance(targets, Iterable):
        wrong_type(targets, "targets", 'a dict as {"precision": 0.9}, or texts')
    if isinstance(targets, Mapping):
        targets = [f"{name}={value}" for name, value in targets.items()]
    asked = targets if isinstance(targets, str) else ",".join(text(one, "one of targets") for one in targets)
    return run_json(["evaluate", *_flags(flags, model=("model", _folder(model)), dataset=("data", path(data, "data")),
                                         thresholds=("targets", asked))])["thresholds"]


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
    ranks, target = None if model is None else _folder(model), path(output, "output")
    with _readable(data) as file:
        return run_json(["mine", *_flags(flags, model=("model", ranks), dataset=("data", file),
                                         output=("output", target))])


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
    ranks, target, share = _folder(model), path(output, "output"), number(keep, "keep", 0, 1)
    with _readable(data) as file:
        return run_json(["prune", word_of_path(file, "data"), *_flags(
            flags, model=("model", ranks), keep=("keep", share), output=("output", target))])


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
    scores, target, wanted = _folder(model), path(output, "output"), text(kind, "kind")
    with _readable(data) as file:
        return run_json(["score", *_flags(flags, model=("model", scores), pairs=("data", file), as_=("kind", wanted),
                                          output=("output", target))])


def _flags(flags: Mapping[str, Any], **own: tuple[str, Any]) -> list[str]:
    """Returns flags, and those that have an argument of their own: the command's name=(the argument's, its value)."""
    for name in flags:
        if name.rstrip("_") == "format":
            raise TypeError("format is not for Python: results are dicts; leave it out")
        mine = own.get(name) or own.get(name.rstrip("_")) or own.get(name + "_")
        if mine is not None:
            raise TypeError(f"{name} is the argument {mine[0]} here, and both are given; leave {name} out")
    return flags_of({**{name: value for name, (_, value) in own.items()}, **flags})


def _optional_path(value: Any, name: str) -> str | None:
    return None if value is None else path(value, name)


def _word_of(model: Any, name: str = "model") -> str:
    return word_of_path(_folder(model, name), name)


def _folder(model: Any, name: str = "model") -> str:
    if isinstance(model, Model):
        return model.folder
    if isinstance(model, Run):
        return str(model.folder / "model")
    if is_path(model):
        return path(model, name)
    wrong_type(model, name, "a Model, a Run or a path")


@contextmanager
def _readable(data: Any) -> Iterator[str]:
    """Gives the path of data; rows are in a file that is gone afterwards, and errors call it `data`."""
    check_rows(data, "data")
    if is_path(data):
        yield path(data, "data")
        return
    with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        file = str(Path(folder) / "data.jsonl")
        write_rows(data, Path(file), "data")
        try:
            yield file
        except _errors.Error as error:
            if getattr(error, "file", None) == file:
                error.file = "data"
            error.args = (str(error).replace(file, "data"),)
            raise
