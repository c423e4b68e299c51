#!/usr/bin/env python3
"""Prints the type stub of tandem_retrieval.sentence_transformers:

    sentence_transformers_stub.py > python/tandem_retrieval/sentence_transformers.pyi

It needs the package and torch, and names each objective's own parameters. A test says when the stub is stale.
"""

from losses_stub import parameter

from tandem_retrieval import losses
from tandem_retrieval import sentence_transformers as trained

HEAD = '''\
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
'''

FIRST = """\
    def __init__(
        self,
        model: torch.nn.Module,
        *,
        mini_batch_size: int | None = None,
        masks: Mapping[str, bool] | None = None,
"""


def loss(name: str) -> str:
    own = "".join(f"    {parameter(one)}" for one in losses._OBJECTIVES[name]["parameters"])
    return f"\nclass {trained.LOSSES[name].__name__}(TandemLoss):\n{FIRST}{own}    ) -> None: ...\n"


if __name__ == "__main__":
    print(HEAD + "".join(loss(name) for name in trained.LOSSES), end="")
