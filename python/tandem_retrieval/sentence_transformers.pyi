# Printed by tools/python/sentence_transformers_stub.py.
from collections.abc import Iterable, Mapping
from typing import Any

import torch

LOSSES: dict[str, type[TandemLoss]]

class TandemLoss(torch.nn.Module):
    objective: str
    model: torch.nn.Module
    mini_batch_size: int | None
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
        **parameters: float | bool | str | None,
    ) -> None: ...
    @property
    def scale(self) -> float | None: ...
    @property
    def bias(self) -> float | None: ...
    @property
    def uses_gradient_cache(self) -> bool: ...
    def learning_rates(self, learning_rate: float) -> dict[str, float]: ...
    def get_config_dict(self) -> dict[str, Any]: ...
    def forward(
        self, sentence_features: Iterable[dict[str, Any]], labels: torch.Tensor | None = None
    ) -> torch.Tensor: ...

class InfoNCE(TandemLoss):
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
        temperature: float = 0.05,
        directions: str = 'query_to_document',
        similarity_kind: str | None = None,
    ) -> None: ...

class SamToNe(TandemLoss):
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
        temperature: float = 0.01,
        directions: str = 'query_to_document',
        same_tower: str = 'query',
        similarity_kind: str | None = None,
    ) -> None: ...

class Pair(TandemLoss):
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
        temperature: float = 0.01,
        alpha: float = 0.1,
        include_positive: bool = True,
        directions: str = 'query_to_document',
        similarity_kind: str | None = None,
    ) -> None: ...

class MannWhitney(TandemLoss):
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
        temperature: float = 0.01,
        normalization: str = 'mean',
        bank: int = 0,
        bank_max_age: int = 0,
        form: str = 'auto',
        similarity_kind: str | None = None,
    ) -> None: ...

class BiXSE(TandemLoss):
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
        scale: float = 20.0,
        bias: float | None = None,
        learn_bias: bool = True,
        learn_scale: bool = False,
        bias_learning_rate_factor: float = 100.0,
        similarity_kind: str | None = None,
    ) -> None: ...

class SoftInfoNCE(TandemLoss):
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
        temperature: float = 0.05,
        spread_negatives: bool = True,
        similarity_kind: str | None = None,
    ) -> None: ...

class MarginMSE(TandemLoss):
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
        scale: float = 1.0,
        similarity_kind: str = 'dot',
    ) -> None: ...

class KLDistillation(TandemLoss):
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
        temperature: float = 0.05,
        teacher_temperature: float = 1.0,
        similarity_kind: str | None = None,
    ) -> None: ...

class PairwiseBCE(TandemLoss):
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
        scale: float = 20.0,
        similarity_kind: str | None = None,
    ) -> None: ...

class LambdaLoss(TandemLoss):
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
        weighting: str = 'ndcg2',
        scale: float = 20.0,
        mu: float = 10.0,
        similarity_kind: str | None = None,
    ) -> None: ...
