#!/usr/bin/env python3
"""Writes tests/eval/calibration_golden.json: labelled scores and what scikit-learn makes of them.

Needs scikit-learn (1.9.1 made the file in the repository):

    python tools/golden/make_calibration_golden.py > tests/eval/calibration_golden.json

Platt's targets are shares of a positive, which LogisticRegression does not take: each score is
there twice, as a positive with the weight t and as a negative with the weight 1 - t, which is the
same objective. scikit-learn's own Platt scaling stops at about four digits; the script checks that
it agrees that far.
"""

import json
import sys

import numpy as np
import sklearn.calibration
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss

BINS = 15


def platt(scores, labels, weights):
    """Scale and bias of 1 / (1 + exp(-(scale * score + bias)))."""
    positives, negatives = weights @ labels, weights @ (1 - labels)
    targets = np.where(labels > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    # Standardised: the solver's tolerance is absolute.
    mean, deviation = scores.mean(), scores.std()
    z = (scores - mean) / deviation
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-13, max_iter=1000)
    model.fit(
        np.concatenate([z, z])[:, None],
        np.concatenate([np.ones_like(z), np.zeros_like(z)]),
        np.concatenate([weights * targets, weights * (1 - targets)]),
    )
    scale = model.coef_[0, 0] / deviation
    bias = model.intercept_[0] - scale * mean
    if np.all(weights == 1):
        a, b = sklearn.calibration._sigmoid_calibration(scores, labels)
        assert np.allclose([-a, -b], [scale, bias], rtol=2e-2, atol=2e-2), (a, b, scale, bias)
    return scale, bias


def expected_calibration_error(probabilities, labels):
    """By numpy's histogram, whose bins are closed on the left."""
    edges = np.arange(BINS + 1) / BINS
    sums, _ = np.histogram(probabilities, edges, weights=probabilities)
    positives, _ = np.histogram(probabilities, edges, weights=labels)
    return float(np.abs(sums - positives).sum() / len(labels))


def make_case(name, scores, labels, weights=None):
    """One set of labelled scores with the fits and the figures of both."""
    scores, labels = np.asarray(scores, float), np.asarray(labels, float)
    weights = np.ones_like(scores) if weights is None else np.asarray(weights, float)
    scale, bias = platt(scores, labels, weights)
    isotonic = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    isotonic.fit(scores, labels, weights)
    at = np.linspace(scores.min() - 0.5, scores.max() + 0.5, 41)
    figures = {}
    for method, probabilities in (
        ("platt", 1 / (1 + np.exp(-(scale * scores + bias)))),
        ("isotonic", isotonic.predict(scores)),
    ):
        figures[method] = {
            "error": expected_calibration_error(probabilities, labels),
            "brier": float(brier_score_loss(labels, probabilities)),
            "log_loss": float(log_loss(labels, probabilities)),
        }
    return {
        "name": name,
        "scores": scores.tolist(),
        "labels": labels.tolist(),
        "weights": weights.tolist(),
        "scale": float(scale),
        "bias": float(bias),
        "at": at.tolist(),
        "isotonic": isotonic.predict(at).tolist(),
        "kept_scores": isotonic.X_thresholds_.tolist(),
        "kept_probabilities": isotonic.y_thresholds_.tolist(),
        "figures": figures,
    }


def main():
    """Prints all cases."""
    random = np.random.default_rng(20)

    def cosines(count):
        return np.round(random.uniform(-0.2, 0.9, count), 3)

    def by_cosine(scores, scale, bias):
        return (random.random(len(scores)) < 1 / (1 + np.exp(-(scale * scores + bias)))).astype(int)

    plain = cosines(120)
    rare = np.sort(cosines(150))
    tied = np.round(cosines(100), 1)
    weighted = cosines(80)
    wrong = cosines(60)
    cases = [
        make_case("plain", plain, by_cosine(plain, 8, -4)),
        make_case("three positives of 150", rare, [0] * 140 + [1, 0, 0, 1, 0, 0, 0, 0, 1, 0]),
        make_case("ties", tied, by_cosine(tied, 6, -2)),
        make_case(
            "weights", weighted, by_cosine(weighted, 8, -4), random.choice([0.5, 1, 3], 80)
        ),
        make_case("positives have the lower scores", wrong, by_cosine(wrong, -5, 1)),
        make_case("a threshold separates them", np.arange(24) / 10, [0] * 17 + [1] * 7),
        make_case("large scores", 1e4 * plain[:60] + 3e5, by_cosine(plain[:60], 8, -4)),
    ]
    json.dump(cases, sys.stdout, separators=(",", ":"))
    print()


main()
