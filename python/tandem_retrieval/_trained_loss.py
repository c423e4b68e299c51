"""What losses for torch trainers do in NumPy: batches of columns as the arrays of an objective."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _tandem
from ._arguments import mapping, text
from ._errors import UsageError
from .losses import _OBJECTIVES, _plain


class Found(NamedTuple):
    """The value of an objective for a batch, with its gradients."""

    value: float
    grad_queries: np.ndarray  # [Q, E], of the embeddings' dtype
    grad_documents: np.ndarray  # [D, E]
    bias: float  # that it was computed with, of an objective that has one
    grad_scale: float
    grad_bias: float


def row_hash(row: bytes) -> int:
    """The hash by which masks know a text."""
    return int.from_bytes(hashlib.blake2b(row, digest_size=8).digest(), "little")


def in_column_order(extra: np.ndarray) -> np.ndarray:
    """Turns [Q, K, ...] of further documents into [Q * K, ...]: those of row 0, of row 1, ..."""
    return extra.reshape(-1, *extra.shape[2:])


class TrainedObjective:
    """An objective with its parameters, and the scores that it keeps between batches."""

    def __init__(self, name: str, parameters: Mapping[str, Any], masks: Mapping[str, bool] | None) -> None:
        self.name = name
        self.parameters = {key: _plain(value, key) for key, value in parameters.items() if value is not None}
        self.masks = {text(rule, "a rule of masks"): wanted for rule, wanted in
                      mapping(masks or {}, "masks", 'a dict as {"copies": False}').items()}
        self._module = _tandem.TrainedLoss(name, self.parameters)
        self.plan: dict[str, Any] = self._module.plan
        self._write_masks(np.zeros(1, np.uint64), np.zeros(1, np.uint64), np.ones((1, 1)))  # names are checked now

    def __getstate__(self) -> tuple:
        return self.name, self.parameters, self.masks

    def __setstate__(self, state: tuple) -> None:
        self.__init__(*state)

    @property
    def has_similarity(self) -> bool:
        """Whether `similarity_kind` was given, or the objective has one of its own."""
        return self.plan["similarity"] is not None

    def evaluate(self, queries: np.ndarray, documents: np.ndarray, labels: np.ndarray | None,
                 hashes: tuple[np.ndarray, np.ndarray], *, scale: float | None, bias: float | None,
                 training: bool) -> Found:
        """Evaluates a batch.

        Args:
            queries: float32 or float64 [Q, E].
            documents: [Q * (1 + K), E]: the paired ones of all rows, then the further ones of row 0, of row 1, ...
            labels: of the trainer's column, or None.
            hashes: uint64 [Q] and [Q * (1 + K)]: equal ones are copies.
            scale, bias: those learned so far; None: those of the start.
            training: whether kept scores are compared with, and the batch's kept.
        """
        rows, own = len(queries), len(documents) // len(queries)
        values, labelled = self._own_labels(labels, rows, own)
        arrays = {
            "queries": np.ascontiguousarray(queries, np.float64),
            "documents": np.ascontiguousarray(documents, np.float64),
            "positive": np.arange(rows, dtype=np.int64),
            **self._masks(hashes, values if self.plan["grades"] else None, rows, own),
        }
        if self.plan["grades"] or self.plan["teacher"]:
            name = "relevance" if self.plan["grades"] else "teacher"
            arrays[name] = _as_matrix(values, np.float64)
            arrays["labelled"] = _as_matrix(labelled, np.uint8)
        gradients = np.empty(queries.shape, queries.dtype), np.empty(documents.shape, documents.dtype)
        found = self._module.evaluate(arrays, scale, bias, training, *gradients)
        return Found(found["value"], *gradients, found["bias"], found["grad_scale"], found["grad_bias"])

    def _own_labels(self, labels: np.ndarray | None, rows: int, own: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns values [Q, 1 + K] of each row's own documents, and where they are labels."""
        if self.plan["teacher"]:
            return self._teacher_scores(labels, rows, own), np.ones((rows, own), np.bool_)
        if not self.plan["grades"]:
            return self._only_positives(labels, rows, own)
        if labels is None:
            raise UsageError(f"{self.name} needs grades: a column `label` or `score` of the data set, with a number from 0 "
                             f"to 1 for each row's second column, or a list of {own} for all columns after the first")
        return self._spread(labels, rows, own)

    def _spread(self, labels: np.ndarray, rows: int, own: int) -> tuple[np.ndarray, np.ndarray]:
        if labels.shape == (rows, own):
            return labels, np.ones((rows, own), np.bool_)
        if labels.size != rows or labels.ndim > 2:
            raise self._wrong_labels(labels, f"[{rows}] or [{rows}, {own}]")
        values, labelled = np.zeros((rows, own)), np.zeros((rows, own), np.bool_)
        values[:, 0], labelled[:, 0] = labels.ravel(), True
        return values, labelled

    def _teacher_scores(self, labels: np.ndarray | None, rows: int, own: int) -> np.ndarray:
        """Returns scores [Q, 1 + K]. Of margins they are right up to a number for each row, which no objective sees."""
        if own < 2:
            raise UsageError(f"{self.name} compares the documents of a row: it needs three columns or more "
                             "(anchor, positive, negative, ...), found 2")
        if labels is None:
            raise UsageError(f"{self.name} needs a teacher's scores: a column `label` or `score` of the data set, with a "
                             f"list of {own} scores for each row, or of {own - 1} margins over the negatives")
        if labels.shape == (rows, own):
            return labels
        if labels.shape == (rows, own - 1) or (own == 2 and labels.shape == (rows,)):
            return np.concatenate([np.zeros((rows, 1)), -labels.reshape(rows, own - 1)], axis=1)
        raise self._wrong_labels(labels, f"[{rows}, {own}], scores, or [{rows}, {own - 1}], margins")

    def _only_positives(self, labels: np.ndarray | None, rows: int, own: int) -> tuple[np.ndarray, np.ndarray]:
        values = np.zeros((rows, own))
        values[:, 0] = 1
        if labels is not None:
            given, _ = self._spread(labels, rows, own)
            other = int((given != values).any(axis=1).sum())
            if other:
                raise UsageError(f"{self.name} takes each row's second column as relevant and further ones as not, and the "
                                 f"labels of {other} of {rows} rows say otherwise: leave these rows out, remove the label "
                                 "column, or take an objective for grades (bixse)")
        return values, np.ones((rows, own), np.bool_)

    def _wrong_labels(self, labels: np.ndarray, expected: str) -> UsageError:
        return UsageError(f"labels has the shape {list(labels.shape)}; {self.name} expects {expected} for this batch")

    def _masks(self, hashes, grades: np.ndarray | None, rows: int, own: int) -> dict[str, np.ndarray]:
        if grades is None:
            grades = np.zeros((rows, own))
            grades[:, 0] = 1
        # Grades that are out of range are the module's to refuse, with the labels.
        within = np.nan_to_num(np.clip(grades, 0, 1))
        return self._write_masks(*hashes, np.ascontiguousarray(within, np.float64))

    def _write_masks(self, queries: np.ndarray, documents: np.ndarray, grades: np.ndarray) -> dict[str, np.ndarray]:
        rows = len(queries)
        masks = {"negative_mask": np.empty((rows, len(documents)), np.uint8),
                 "query_mask": np.empty((rows, rows), np.uint8), "document_mask": np.empty((rows, rows), np.uint8)}
        _tandem.write_masks(queries, documents, grades, self.masks, *masks.values())
        return masks


def _as_matrix(own: npt.NDArray, dtype: npt.DTypeLike) -> np.ndarray:
    """Puts the values [Q, 1 + K] of each row's own documents where their columns are: [Q, Q * (1 + K)]."""
    rows, width = own.shape
    matrix = np.zeros((rows, rows * width), dtype)
    every = np.arange(rows)
    matrix[every, every] = own[:, 0]
    for extra in range(width - 1):
        matrix[every, rows + every * (width - 1) + extra] = own[:, 1 + extra]
    return matrix


def objective_names() -> Sequence[str]:
    """The names of the catalogue, in its order."""
    return list(_OBJECTIVES)
