"""Every objective as a function of NumPy arrays: its value and its gradients.

The functions are those of the catalogue (`tandem list objectives`); docs/objectives.md says what each is for. All take
the same arrays, and their own parameters by keyword:

    loss = losses.infonce(queries, documents, temperature=0.05)
    loss.value, loss.grad_queries, loss.grad_documents, loss.losses

Arrays:
    queries: floating [Q, E], raw embeddings.
    documents: floating [D, E], of the same dtype.
    positive: whole numbers [Q], the column of each query's paired document; None: 0 to Q - 1.
    relevance: floating [Q, D], grades from 0 to 1; teacher: floating [Q, D], a teacher's scores.
    labelled: bool [Q, D], where relevance and teacher count; None: everywhere, if either is given.
    negative_mask: bool [Q, D], whether document j counts as a negative of query i; None: all but the paired one.
    query_mask, document_mask: bool [Q, Q], the same among queries and among paired documents; None: all others.
    weights: floating [Q], 0 or more, of each query's loss; None: 1.
    bank_positives, bank_negatives: floating, scores of earlier batches (mann_whitney alone has them).

The gradients are those of the embeddings. What an objective has besides is held fixed for them: bixse without `bias`
takes the bias with which training starts, which the batch decides, and its gradients leave out how that would move with
the embeddings, as in training, where the bias is a parameter of its own.

Raises:
    TypeError: an array of a wrong dtype. UsageError: a wrong shape, column or range, an array that the objective
    needs and has not, a parameter that it does not have. NumericError: a number that is not finite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import _tandem
from ._arguments import array as as_array
from ._arguments import shown, text
from ._errors import UsageError


class Loss(NamedTuple):
    """The value of an objective for a batch, with its gradients."""

    value: float
    grad_queries: np.ndarray  # [Q, E], of the embeddings' dtype
    grad_documents: np.ndarray  # [D, E]
    losses: npt.NDArray[np.float64]  # [Q]: of each query, whatever it weighs


def _embeddings(array: npt.ArrayLike, name: str) -> np.ndarray:
    given = as_array(array, name)
    if given.dtype not in (np.float32, np.float64):
        raise TypeError(f"{name} has the dtype {given.dtype}; expected float32 or float64")
    return given


def _numbers(array: npt.ArrayLike, name: str) -> np.ndarray:
    given = as_array(array, name)
    if given.dtype == object or not (
        np.issubdtype(given.dtype, np.floating) or np.issubdtype(given.dtype, np.integer)
    ):
        raise TypeError(f"{name} has the dtype {given.dtype}; expected numbers")
    return np.ascontiguousarray(given, np.float64)


def _mask(array: npt.ArrayLike, name: str) -> np.ndarray:
    given = as_array(array, name)
    if given.dtype != np.bool_:
        if not np.issubdtype(given.dtype, np.integer) or not np.isin(given, (0, 1)).all():
            raise TypeError(f"{name} has the dtype {given.dtype}; expected bool, or whole numbers that are 0 or 1")
    return np.ascontiguousarray(given, np.uint8)


def _columns(array: npt.ArrayLike | None, queries: int) -> np.ndarray:
    if array is None:
        return np.arange(queries, dtype=np.int64)
    given = as_array(array, "positive")
    if not np.issubdtype(given.dtype, np.integer):
        raise TypeError(f"positive has the dtype {given.dtype}; expected whole numbers")
    return np.ascontiguousarray(given, np.int64)


def _others(queries: int, documents: int, positive: np.ndarray) -> np.ndarray:
    mask = np.ones((queries, documents), np.uint8)
    # Columns out of range are the module's to refuse.
    inside = (positive >= 0) & (positive < documents)
    rows = np.arange(queries)
    if positive.shape == rows.shape:
        mask[rows[inside], positive[inside]] = 0
    return mask


def evaluate(objective, queries, documents, positive=None, *, relevance=None, teacher=None, labelled=None,
             negative_mask=None, query_mask=None, document_mask=None, weights=None, bank_positives=None,
             bank_negatives=None, **parameters) -> Loss:
    """Evaluates the objective of this name; see the module's description for arrays and errors."""
    queries, documents = _embeddings(queries, "queries"), _embeddings(documents, "documents")
    if queries.dtype != documents.dtype:
        raise TypeError(f"queries has the dtype {queries.dtype} and documents {documents.dtype}; expected one dtype")
    rows, columns = (len(array) if array.ndim else 0 for array in (queries, documents))
    paired = _columns(positive, rows)
    if labelled is None and (relevance is not None or teacher is not None):
        labelled = np.ones((rows, columns), np.bool_)
    others = ~np.eye(rows, dtype=np.bool_)
    arrays = {
        "queries": np.ascontiguousarray(queries, np.float64),
        "documents": np.ascontiguousarray(documents, np.float64),
        "positive": paired,
        "negative_mask": _others(rows, columns, paired) if negative_mask is None
        else _mask(negative_mask, "negative_mask"),
        "query_mask": _mask(others if query_mask is None else query_mask, "query_mask"),
        "document_mask": _mask(others if document_mask is None else document_mask, "document_mask"),
    }
    if labelled is not None:
        arrays["labelled"] = _mask(labelled, "labelled")
    for name, numbers in (("relevance", relevance), ("teacher", teacher), ("weights", weights),
                          ("bank_positives", bank_positives), ("bank_negatives", bank_negatives)):
        if numbers is not None:
            arrays[name] = _numbers(numbers, name)
    gradients = np.empty(queries.shape, queries.dtype), np.empty(documents.shape, documents.dtype)
    if queries.ndim != 2 or documents.ndim != 2:
        gradients = np.empty((0, 0), queries.dtype), np.empty((0, 0), queries.dtype)  # the module says what is wrong
    set_parameters = {name: _plain(value, name) for name, value in parameters.items() if value is not None}
    value, losses = _tandem.loss(text(objective, "objective"), arrays, set_parameters, *gradients)
    return Loss(value, *gradients, np.asarray(losses, np.float64))


def _plain(value, name: str):
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (bool, int, float, str)):
        raise TypeError(f"{name} is of the type {type(value).__name__}; expected a number, a bool or a str")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise UsageError(f"{name} is {shown(value)}; no parameter has a range so large")
    return text(value, name) if isinstance(value, str) else value


def _described(info: dict) -> str:
    lines = [f"{info['summary']}.", "", info["purpose"], "", info["formula"].rstrip(), "",
             f"Source: {info['source']}.", "", "Parameters:"]
    for parameter in info["parameters"]:
        default = parameter["unset"] if parameter["default"] is None else f"default {parameter['default']!r}"
        ranges = f", {parameter['range']}" if parameter["range"] else ""
        lines.append(f"    {parameter['name']}: {parameter['doc']} ({default}{ranges}).")
    lines += ["", "See the module's description for arrays and errors."]
    return "\n".join(lines)


def _function(info: dict) -> Callable[..., Loss]:
    name = info["name"]

    def objective(queries, documents, positive=None, **options) -> Loss:
        return evaluate(name, queries, documents, positive, **options)

    objective.__name__ = objective.__qualname__ = name
    objective.__doc__ = _described(info)
    return objective


_OBJECTIVES = {info["name"]: info for info in _tandem.objectives()}
globals().update({name: _function(info) for name, info in _OBJECTIVES.items()})
__all__ = ["Loss", "evaluate", *_OBJECTIVES]
