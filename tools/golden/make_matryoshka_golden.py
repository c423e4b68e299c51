#!/usr/bin/env python3
"""Prints the golden numbers of tests/objective/matryoshka_test.cc: sentence-transformers'
MatryoshkaLoss over MultipleNegativesRankingLoss on embeddings that an integer formula gives.

    make_matryoshka_golden.py
"""

import torch
from sentence_transformers.sentence_transformer.losses import (
    MatryoshkaLoss,
    MultipleNegativesRankingLoss,
)

QUERIES, WIDTH = 3, 8
WIDTHS, WEIGHTS = [8, 4, 2], [1.0, 0.5, 0.25]


def rows(count, offset):
    values = [[((31 * (i + offset) + 17 * j + 7 * (i + offset) * j) % 23 - 11) / 8
               for j in range(WIDTH)] for i in range(count)]
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


class Given(torch.nn.Module):
    """A model whose embeddings are given as features."""

    def get_embedding_dimension(self):
        return WIDTH

    def forward(self, features):
        return {"sentence_embedding": features["rows"]}


def main():
    queries, documents = rows(QUERIES, 0), rows(2 * QUERIES, 10)
    model = Given()
    loss = MatryoshkaLoss(model, MultipleNegativesRankingLoss(model, scale=20.0), WIDTHS, WEIGHTS)
    features = [{"rows": queries}, {"rows": documents[:QUERIES]}, {"rows": documents[QUERIES:]}]
    value = loss(features, None)
    value.backward()
    print(f"loss {value.item():.17g}")
    for name, grad in (("query 0", queries.grad[0]), ("document 4", documents.grad[4])):
        print(name, ", ".join(f"{v:.17g}" for v in grad.tolist()))
    print(f"norms {queries.grad.norm().item():.17g} {documents.grad.norm().item():.17g}")


if __name__ == "__main__":
    main()
