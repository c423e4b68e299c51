#!/usr/bin/env python3
"""Prints the type stub of tandem_retrieval.losses: losses_stub.py > python/tandem_retrieval/losses.pyi

It needs the package, and names each objective's own parameters. A test says when the stub is stale.
"""

from tandem_retrieval import losses

HEAD = '''\
# Printed by tools/python/losses_stub.py.
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

class Loss(NamedTuple):
    value: float
    grad_queries: np.ndarray
    grad_documents: np.ndarray
    losses: npt.NDArray[np.float64]
'''

ARRAYS = """\
    queries: npt.ArrayLike,
    documents: npt.ArrayLike,
    positive: npt.ArrayLike | None = None,
    *,
    relevance: npt.ArrayLike | None = None,
    teacher: npt.ArrayLike | None = None,
    labelled: npt.ArrayLike | None = None,
    negative_mask: npt.ArrayLike | None = None,
    query_mask: npt.ArrayLike | None = None,
    document_mask: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    bank_positives: npt.ArrayLike | None = None,
    bank_negatives: npt.ArrayLike | None = None,
"""

TYPES = {"number": "float", "integer": "int", "boolean": "bool", "choice": "str", "string": "str"}


def function(name: str, first: str, last: str) -> str:
    return f"\ndef {name}(\n{first}{ARRAYS}{last}) -> Loss: ...\n"


def parameter(info: dict) -> str:
    kind = TYPES[info["kind"]]
    if info["default"] is None:
        return f"    {info['name']}: {kind} | None = None,\n"
    return f"    {info['name']}: {kind} = {info['default']!r},\n"


def stub() -> str:
    text = HEAD + function("evaluate", "    objective: str,\n", "    **parameters: float | bool | str | None,\n")
    for info in losses._OBJECTIVES.values():
        text += function(info["name"], "", "".join(parameter(one) for one in info["parameters"]))
    return text


if __name__ == "__main__":
    print(stub(), end="")
