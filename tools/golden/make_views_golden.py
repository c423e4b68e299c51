#!/usr/bin/env python3
"""Writes tests/eval/views.json: rows of two towers and what scikit-learn and SciPy say of them.

Needs scikit-learn (1.9.1 with SciPy 1.17.1 made the file in the repository):

    python tools/golden/make_views_golden.py > tests/eval/views.json

The separability is that of leaving out one pair at a time, whose folds need no random numbers.
"""

import json
import sys

import numpy
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import _t_sne
from sklearn.model_selection import LeaveOneGroupOut, cross_val_score

SHRINKAGE = 0.1
PERPLEXITY = 5.0


def unit(rows):
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def uniformity(rows):
    return float(numpy.log(numpy.exp(-2 * pdist(rows, "sqeuclidean")).mean()))


def plane(rows):
    """Points and shares of the variance; the largest coordinate of a component is positive."""
    pca = PCA(2, svd_solver="full").fit(rows)
    points = pca.transform(rows)
    points *= numpy.sign([column[numpy.argmax(numpy.abs(column))] for column in points.T])
    return points.tolist(), pca.explained_variance_ratio_.tolist()


def separability(queries, positives):
    pairs = len(queries)
    discriminant = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=SHRINKAGE)
    scores = cross_val_score(discriminant, numpy.vstack([queries, positives]),
                             [0] * pairs + [1] * pairs, groups=[*range(pairs)] * 2,
                             cv=LeaveOneGroupOut())
    return float(scores.mean())


def make_case(source, pairs, width, apart):
    spread = 1.5 / numpy.arange(1, width + 1)
    queries = (source.normal(size=(pairs, width)) * spread).round(4).astype(numpy.float32)
    positives = (source.normal(size=(pairs, width)) * spread).round(4).astype(numpy.float32)
    positives[:, -1] += numpy.float32(apart)
    towers = [unit(rows.astype(numpy.float64)) for rows in (queries, positives)]
    both = numpy.vstack(towers)
    points, explained = plane(both)
    affinities = _t_sne._joint_probabilities(squareform(pdist(both, "sqeuclidean")), PERPLEXITY, 0)
    return {
        "width": width, "queries": queries.ravel().tolist(),
        "positives": positives.ravel().tolist(),
        "alignment": float((numpy.linalg.norm(towers[0] - towers[1], axis=1) ** 2).mean()),
        "uniformity_queries": uniformity(towers[0]),
        "uniformity_positives": uniformity(towers[1]),
        "centroid_gap": float(numpy.linalg.norm(towers[0].mean(0) - towers[1].mean(0))),
        "shrinkage": SHRINKAGE, "separability": separability(*towers), "points": points,
        "explained": explained, "perplexity": PERPLEXITY,
        "affinities": [float(f"{value:.6g}") for value in affinities],
    }


def main():
    source = numpy.random.default_rng(20240229)
    cases = [make_case(source, 24, 6, 0.4), make_case(source, 16, 40, 0.05)]
    sys.stdout.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
