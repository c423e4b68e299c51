"""Measures of runs and models, with intervals."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _tandem
from ._arguments import flag, number, optional_whole, path, text, whole, wrong_type
from ._errors import UsageError
from ._html import table
from ._model import Model, precision_name

# A mean of each is in memory: 800 MB.
_MOST_RESAMPLES = 100_000_000
DEFAULT_MEASURES = ("ndcg@10", "mrr@10", "recall@100")


class Evaluation:
    """Measures over queries: means, the values of each query, and intervals of the means.

    Attributes:
        queries: the queries that were evaluated, in ascending order of their bytes.
        means: measure -> mean over queries, or the pooled value of a measure that has none for each query.
        per_query: measure -> float64 [queries]; empty for a pooled measure; NaN where a query has no value.
        remarks: what a reader must know besides the numbers.
    """

    def __init__(self, found: dict[str, Any], resampling: tuple[int, int, float]) -> None:
        self.queries: list[str] = found["queries"]
        self.means: dict[str, float] = dict(zip(found["measures"], found["means"]))
        self.per_query: dict[str, npt.NDArray[np.float64]] = {
            name: np.asarray(values, np.float64) for name, values in zip(found["measures"], found["per_query"])
        }
        self.remarks: list[str] = [text for text, _ in found["remarks"]]
        self._resampling = resampling

    def __getitem__(self, measure: str) -> float:
        return self.means[measure]

    @cached_property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Measure -> (low, high) of its mean, by the bootstrap over queries; pooled measures have none.

        They are computed when they are first asked for.
        """
        found = {}
        for name, values in self.per_query.items():
            there = values[~np.isnan(values)]
            if len(there) > 0:
                found[name] = _tandem.mean_interval(there.tolist(), *self._resampling)
        return found

    def _rows(self) -> list[tuple[str, str, str]]:
        """The table's rows; the first is its head."""
        rows = [("measure", "mean", f"{100 * self._resampling[2]:g} % interval")]
        for name, mean in self.means.items():
            low_high = self.intervals.get(name)
            rows.append((name, f"{mean:.4f}", f"{low_high[0]:.4f} to {low_high[1]:.4f}" if low_high else ""))
        return rows

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _, _ in rows)
        lines = [f"{name:<{width}}  {mean:>6}  {interval}".rstrip() for name, mean, interval in rows]
        lines.append(f"{len(self.queries)} queries")
        return "\n".join([*lines, *self.remarks])

    def _repr_html_(self) -> str:
        head, *rows = self._rows()
        return table(head, rows, [f"{len(self.queries)} queries", *self.remarks])


def measures_text(measures: str | Iterable[str]) -> str:
    if isinstance(measures, str):
        return text(measures, "measures")
    if isinstance(measures, (bytes, Mapping)) or not isinstance(measures, Iterable):
        wrong_type(measures, "measures", "names separated by commas, or a list of names")
    names = list(measures)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"measures has a {type(name).__name__}; expected str")
    return text(",".join(names), "measures")


def _resampling(seed: Any, resamples: Any, confidence: Any) -> tuple[int, int, float]:
    """Returns what intervals are made with."""
    share = number(confidence, "confidence", 0, 1)
    if share in (0, 1):
        raise UsageError(f"confidence is {share:g}; expected a number between 0 and 1")
    return whole(seed, "seed", 0, 2**64 - 1), whole(resamples, "resamples", 1, _MOST_RESAMPLES), share


def _plain_dict(given: Any, name: str) -> dict:
    if isinstance(given, dict):
        return given
    if hasattr(given, "to_dict"):  # ranx's Qrels and Run
        return given.to_dict()
    if isinstance(given, Mapping):
        return {query: dict(of_query) for query, of_query in given.items()}
    raise TypeError(f"{name} is of the type {type(given).__name__}; expected a dict of dicts, or a Qrels or Run of "
                    "ranx")


def evaluate(
    model: Model | str | os.PathLike[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    measures: str | Iterable[str] = DEFAULT_MEASURES,
    *,
    qrels: Mapping[str, Mapping[str, float]] | None = None,
    run: Mapping[str, Mapping[str, float]] | None = None,
    split: str = "test",
    relevance_level: float = 1,
    max_results: int | None = None,
    complete: bool = False,
    score_precision: str = "double",
    precision: str | None = None,
    seed: int = 1,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Evaluation:
    """Measures a model on a data set, or a run against judgements.

        evaluate(model, "data/mine", "ndcg@10,recall@100")
        evaluate(qrels=qrels, run=run, measures=["ndcg@10"])

    Args:
        model: a Model or its folder, which ranks the corpus for each judged query; with `data`.
        data: a BEIR folder, of which `split` is measured.
        measures: names as `tandem list measures` has them, separated by commas, or a list of names. Names of
            ir_measures are read too.
        qrels: query -> document -> grade, as pytrec_eval and ranx take them (ranx's Qrels too); with `run`.
        run: query -> document -> score. Ties are ordered as trec_eval does. A judged query with an empty dict counts,
            with 0, as in pytrec_eval.
        relevance_level: a document is a positive from this grade on.
        max_results: only so many of a query's best results count; of a model None: 1,000, 0: all.
        complete: whether judged queries that the run lacks count, with 0; with a model they always do.
        score_precision: "double", or "single" as in pytrec_eval and trec_eval 9.
        precision: of encoding, as in `Model.encode`.
        seed, resamples, confidence: of the intervals (bootstrap over queries).

    Raises:
        DataError: no query is both judged and in the run; files of the data set are wrong.
        UsageError: a measure that there is not, a number out of its range. NumericError: a score that is not finite. TypeError.
    """
    if run is None and qrels is None and isinstance(model, dict):
        raise UsageError("dicts are given by name, since peers order them differently: "
                         "evaluate(qrels=..., run=..., measures=...)")
    of_run = run is not None or qrels is not None
    if of_run == (model is not None or data is not None):
        raise UsageError("give model and data, or qrels and run")
    resampling = _resampling(seed, resamples, confidence)
    options = _tandem.measure_options(measures_text(measures), number(relevance_level, "relevance_level"),
                                      optional_whole(max_results, "max_results", 0),
                                      text(score_precision, "score_precision"), flag(complete, "complete"))
    if of_run:
        if run is None or qrels is None:
            raise UsageError("give both qrels and run")
        found = _tandem.evaluate_dicts(_plain_dict(qrels, "qrels"), _plain_dict(run, "run"), options)
    else:
        if model is None or data is None:
            raise UsageError("give both model and data")
        folder, part, encoding = path(data, "data"), text(split, "split"), precision_name(precision)
        opened = model if isinstance(model, Model) else Model(path(model, "model"))
        found = _tandem.evaluate_model(opened._module, folder, part, encoding, options)
    return Evaluation(found, resampling)
