"""Measures of runs and models, with intervals."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _tandem
from ._errors import UsageError
from ._html import table
from ._model import Model, precision_name

DEFAULT_MEASURES = ("ndcg@10", "mrr@10", "recall@100")


class Evaluation:
    """Measures over queries: means, the values of each query, and intervals of the means.

    Attributes:
        queries: the queries that were evaluated, in ascending order of their bytes.
        means: measure -> mean over queries, or the pooled value of a measure that has none for each query.
        per_query: measure -> float64 [queries]; empty for a pooled measure; NaN where a query has no value.
        remarks: what a reader must know besides the numbers.
    """

    def __init__(self, found: dict[str, Any], seed: int, resamples: int, confidence: float) -> None:
        self.queries: list[str] = found["queries"]
        self.means: dict[str, float] = dict(zip(found["measures"], found["means"]))
        self.per_query: dict[str, npt.NDArray[np.float64]] = {
            name: np.asarray(values, np.float64) for name, values in zip(found["measures"], found["per_query"])
        }
        self.remarks: list[str] = [text for text, _ in found["remarks"]]
        self._resampling = (seed, resamples, confidence)

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
        return measures
    names = list(measures)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"measures has a {type(name).__name__}; expected str")
    return ",".join(names)


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
        run: query -> document -> score. Ties are ordered as trec_eval does.
        relevance_level: a document is a positive from this grade on.
        max_results: only so many of a query's best results count; of a model None: 1,000, 0: all.
        complete: whether judged queries that the run lacks count, with 0; with a model they always do.
        score_precision: "double", or "single" as in pytrec_eval and trec_eval 9.
        precision: of encoding, as in `Model.encode`.
        seed, resamples, confidence: of the intervals (bootstrap over queries).

    Raises:
        DataError: no query is both judged and in the run; files of the data set are wrong.
        UsageError: a measure that there is not. NumericError: a score that is not finite. TypeError.
    """
    if run is None and qrels is None and isinstance(model, dict):
        raise UsageError("dicts are given by name, since peers order them differently: "
                         "evaluate(qrels=..., run=..., measures=...)")
    of_run = run is not None or qrels is not None
    if of_run == (model is not None or data is not None):
        raise UsageError("give model and data, or qrels and run")
    options = _tandem.measure_options(measures_text(measures), float(relevance_level), max_results, score_precision,
                                      complete)
    if of_run:
        if run is None or qrels is None:
            raise UsageError("give both qrels and run")
        found = _tandem.evaluate_dicts(_plain_dict(qrels, "qrels"), _plain_dict(run, "run"), options)
    else:
        if model is None or data is None:
            raise UsageError("give both model and data")
        opened = model if isinstance(model, Model) else Model(model)
        found = _tandem.evaluate_model(opened._module, os.fspath(data), split, precision_name(precision), options)
    return Evaluation(found, seed, resamples, confidence)
