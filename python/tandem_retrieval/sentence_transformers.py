"""Every objective as a loss for sentence-transformers' trainer.

    from tandem_retrieval.sentence_transformers import MannWhitney

    loss = MannWhitney(model, temperature=0.01)      # in place of losses.MultipleNegativesRankingLoss(model)

There is a class for each objective of the catalogue (`tandem list objectives`): InfoNCE, SamToNe, Pair, MannWhitney,
BiXSE, SoftInfoNCE, MarginMSE, KLDistillation, PairwiseBCE, LambdaLoss. Each computes with the program's own formula and
gradient, on the processor and in double precision; the model stays where it is. docs/python-losses.md has the guide.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._errors import UsageError
from ._trained_loss import TrainedObjective, row_hash
from .losses import _OBJECTIVES, _described

try:
    import torch
    from torch.utils.checkpoint import checkpoint
except ImportError as error:
    raise ImportError("losses for sentence-transformers need it: pip install "
                      "'tandem-retrieval[sentence-transformers]'") from error

_log = logging.getLogger("tandem_retrieval")
Features = dict[str, Any]


class _Evaluate(torch.autograd.Function):
    """The loss of a batch as a function of embeddings, scale and bias. The gradients are ready when the value is."""

    @staticmethod
    def forward(context, evaluate, queries, documents, scale, bias):
        found = evaluate(queries, documents)
        on = {"device": queries.device, "dtype": queries.dtype}
        context.gradients = torch.from_numpy(found.grad_queries).to(**on), torch.from_numpy(found.grad_documents).to(**on)
        context.numbers = found.grad_scale, found.grad_bias
        context.save_for_backward(scale, bias)
        return torch.tensor(found.value, device=queries.device, dtype=_at_least_float32(queries.dtype))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, gradient):
        of_embeddings = [gradient.to(one.dtype) * one for one in context.gradients]
        of_numbers = [None if number is None else torch.full_like(number, slope) * gradient
                      for number, slope in zip(context.saved_tensors, context.numbers)]
        return None, *of_embeddings, *of_numbers


def _at_least_float32(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype == torch.float64 else torch.float32


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().to("cpu", _at_least_float32(tensor.dtype)).numpy()


class TandemLoss(torch.nn.Module):
    """Base of all losses; `objective` names that of a class.

    Args:
        model: a SentenceTransformer.
        mini_batch_size: rows that the model embeds at a time. Memory is then that of one such part whatever the batch,
            the gradients are the same, and each text is embedded twice: GradCache. None: a whole column at a time.
        masks: rules of `data.masks` that are switched off or on, such as {"in_batch": False}: then a row's negatives
            are its own further columns alone.
        parameters: of the objective. `similarity_kind` is by default the model's `similarity_fn_name`.

    The columns of the data set are (anchor, positive[, negative, ...]), as for sentence-transformers' losses, and labels
    stand in a column `label` or `score`:
        an objective for grades: from 0 to 1 for each row's second column, or a list for all columns after the first;
        one for a teacher's scores: a list for all columns after the first, or of margins over the negatives.

    Texts with the same tokens are copies of each other, and masks treat them as in `tandem train`.

    Raises:
        UsageError: a parameter or mask that there is not, a similarity that the objective does not know; in training,
            columns or labels that do not fit. NumericError: embeddings or labels that are not finite.
    """

    objective: str

    def __init__(self, model: torch.nn.Module, *, mini_batch_size: int | None = None,
                 masks: Mapping[str, bool] | None = None, **parameters) -> None:
        super().__init__()
        if mini_batch_size is not None and (not isinstance(mini_batch_size, int) or mini_batch_size < 1):
            raise UsageError(f"mini_batch_size is {mini_batch_size!r}; expected a whole number of 1 or more, or None")
        self.model = model
        self.mini_batch_size = mini_batch_size
        self._objective = TrainedObjective(self.objective, parameters, masks)
        if not self._objective.has_similarity:
            parameters["similarity_kind"] = self._similarity_of(model)
            self._objective = TrainedObjective(self.objective, parameters, masks)
        self._warned = False
        self._add_numbers()

    def _similarity_of(self, model: torch.nn.Module) -> str:
        name = getattr(model, "similarity_fn_name", None)
        if name in ("cosine", "dot"):
            return name
        raise UsageError(f"the model's similarity_fn_name is {name!r}; {self.objective} knows cosine and dot: "
                         "give similarity_kind")

    def _add_numbers(self) -> None:
        """Adds scale and bias as parameters, where the objective has them."""
        plan = self._objective.plan
        if not plan["logistic"]:
            return
        # sentence-transformers' trainer decays no parameter with "bias" in its name. 0 is no better a scale or bias
        # than any other number, so that neither is to decay.
        self.bias_and_scale = torch.nn.ParameterDict({
            "scale": torch.nn.Parameter(torch.tensor(plan["scale"]), requires_grad=plan["learn_scale"]),
            "bias": torch.nn.Parameter(torch.tensor(plan["bias"] or 0.0), requires_grad=plan["learn_bias"]),
        })
        self.register_buffer("bias_has_started", torch.tensor(plan["bias"] is not None))

    @property
    def scale(self) -> float | None:
        """The scale that is learned or given; None: the objective has no learned numbers."""
        return self.bias_and_scale["scale"].item() if self._objective.plan["logistic"] else None

    @property
    def bias(self) -> float | None:
        """The bias; None: the objective has none, or no batch has started it yet."""
        if not self._objective.plan["logistic"] or not self.bias_has_started:
            return None
        return self.bias_and_scale["bias"].item()

    def learning_rates(self, learning_rate: float) -> dict[str, float]:
        """`learning_rate_mapping` for the trainer's arguments, by the objective's `bias_learning_rate_factor`.

        Without it bias and scale learn at the model's rate. {}: the objective learns no numbers.
        """
        plan = self._objective.plan
        if not plan["learn_scale"] and not plan["learn_bias"]:
            return {}
        return {r"\bbias_and_scale\.": learning_rate * plan["learning_rate_factor"]}

    @property
    def uses_gradient_cache(self) -> bool:
        """By which sentence-transformers' wrapping losses know that texts are embedded again in the backward pass."""
        return self.mini_batch_size is not None

    @property
    def calculate_loss(self):
        """What MatryoshkaLoss takes of a loss that uses a gradient cache."""
        raise UsageError("mini_batch_size does not go with losses that wrap others, such as MatryoshkaLoss: leave it out")

    def get_config_dict(self) -> dict[str, Any]:
        """What sentence-transformers writes into model cards."""
        return {"objective": self.objective, **self._objective.parameters}

    def forward(self, sentence_features: Iterable[Features], labels: torch.Tensor | None = None) -> torch.Tensor:
        """The loss of a batch, as a scalar with gradients."""
        columns = list(sentence_features)
        if len(columns) < 2:
            raise UsageError(f"the data set has {len(columns)} columns of texts; {self.objective} expects two or more: "
                             "(anchor, positive[, negative, ...])")
        hashes = [self._hashes(features) for features in columns]  # a model may change its features
        return self._loss([self._embed(features) for features in columns], hashes, labels)

    def _loss(self, embeddings: list[torch.Tensor], hashes: list[np.ndarray | None],
              labels: torch.Tensor | None) -> torch.Tensor:
        queries, positives, *negatives = embeddings
        documents = positives
        if negatives:
            documents = torch.cat([positives, torch.stack(negatives, dim=1).flatten(0, 1)])
        both = torch.promote_types(queries.dtype, documents.dtype)  # those of two encoders may differ
        queries, documents = queries.to(both), documents.to(both)
        keys = _keys(hashes, len(queries))
        given = None if labels is None else labels.detach().cpu().double().numpy()
        learned = self._objective.plan["logistic"]
        bias = self.bias
        numbers = [self.bias_and_scale[name] if learned else None for name in ("scale", "bias")]
        training = torch.is_grad_enabled()

        def evaluate(queries, documents):
            found = self._objective.evaluate(_array(queries), _array(documents), given, keys, scale=self.scale, bias=bias,
                                             training=training)
            if learned and bias is None and training:
                self._start_bias(found.bias)
            return found

        return _Evaluate.apply(evaluate, queries, documents, *numbers)

    @torch.no_grad()
    def _start_bias(self, bias: float) -> None:
        self.bias_and_scale["bias"].fill_(bias)
        self.bias_has_started.fill_(True)

    def _embed(self, features: Features) -> torch.Tensor:
        if self.mini_batch_size is None:
            return self.model(features)["sentence_embedding"]
        if isinstance(self.model, torch.nn.parallel.DistributedDataParallel):
            raise UsageError("mini_batch_size works in one process only: leave it out, or train by one process")
        return torch.cat([checkpoint(self._embed_part, part, use_reentrant=False)
                          for part in _parts(features, self.mini_batch_size)])

    def _embed_part(self, part: Features) -> torch.Tensor:
        # The model may change features, and the backward pass embeds them once more.
        copies = {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in part.items()}
        return self.model(copies)["sentence_embedding"]

    def _hashes(self, features: Features) -> np.ndarray | None:
        ids, mask = features.get("input_ids"), features.get("attention_mask")
        if ids is None or mask is None or ids.ndim != 2 or ids.shape != mask.shape:
            if not self._warned:
                _log.warning("%s: copies of a text in a batch are not known, as features have no input_ids and "
                             "attention_mask of one shape; all count as negatives", type(self).__name__)
                self._warned = True
            return None
        ids, mask = ids.cpu().numpy(), mask.cpu().numpy() != 0
        return np.array([row_hash(row[kept].astype(np.int64).tobytes()) for row, kept in zip(ids, mask)], np.uint64)


def _keys(hashes: list[np.ndarray | None], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the hashes of queries [Q] and documents [Q * (1 + K)]; without those of one column all texts differ."""
    if any(of_column is None for of_column in hashes):
        every = np.arange(rows * len(hashes), dtype=np.uint64)
        return every[:rows], every[rows:]
    queries, positives, *negatives = hashes
    return queries, np.concatenate([positives, np.stack(negatives, axis=1).ravel()]) if negatives else positives


def _parts(features: Features, size: int) -> Iterable[Features]:
    """Yields the features of `size` rows at a time."""
    tensors = {name: value for name, value in features.items() if isinstance(value, torch.Tensor) and value.ndim > 0}
    ids = tensors.get("input_ids")
    if ids is None or ids.ndim != 2:
        raise UsageError("mini_batch_size needs features with padded input_ids, [texts, tokens]; found "
                         f"{sorted(features)}: leave it out for this model")
    rows = len(ids)
    for begin in range(0, rows, size):
        yield {name: value[begin : begin + size] if name in tensors and len(value) == rows else value
               for name, value in features.items()}


# How papers spell the words of names; others are capitalised.
_SPELLINGS = {"infonce": "InfoNCE", "samtone": "SamToNe", "bixse": "BiXSE", "mse": "MSE", "kl": "KL", "bce": "BCE"}


def _class_name(objective: str) -> str:
    return "".join(_SPELLINGS.get(word, word.capitalize()) for word in objective.split("_"))


def _loss_class(info: dict) -> type[TandemLoss]:
    described = _described(info).replace("See the module's description for arrays and errors.",
                                         "See TandemLoss for columns, labels, further arguments and errors.")
    name = _class_name(info["name"])
    return type(name, (TandemLoss,), {"objective": info["name"], "__doc__": described, "__module__": __name__})


LOSSES: dict[str, type[TandemLoss]] = {name: _loss_class(info) for name, info in _OBJECTIVES.items()}
globals().update({one.__name__: one for one in LOSSES.values()})
__all__ = ["LOSSES", "TandemLoss", *(one.__name__ for one in LOSSES.values())]
