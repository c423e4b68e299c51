#!/usr/bin/env python3
"""Compares guarantees with what MAPIE and crepes promise of the same queries.

    guarantee_peers.py RUN.trec QRELS [--splits 100] [--documents 100]

Each split at random halves the queries that have a positive. On the first half recall 0.9 is promised by conformal
risk control, precision 0.9 with 95 % confidence by learn then test (both by MAPIE, whose thresholds are the multiples
of 1/256, and by the formulas of docs/guarantees.md), and no answer to 5 % of the queries without one by split conformal
(by crepes, as p-values of the best scores, and by the formula). What came true on the other half is printed as TSV.
MAPIE wants as many documents of each query: the best --documents of the run count, and no others. Needs numpy, scipy,
mapie >= 1.6 and crepes.
"""

import argparse
import collections
import math
import sys
import warnings

import numpy as np
from crepes import ConformalClassifier
from mapie.risk_control import MultiLabelClassificationController
from scipy.stats import binom

STEPS = 256
RISK, DELTA, NO_ANSWER = 0.1, 0.05, 0.05


def read(run, qrels, documents):
    """Scores [Q, documents] in descending order, and whether each is a positive."""
    positives = collections.defaultdict(set)
    for line in open(qrels, encoding="utf-8"):
        query, document, grade = line.split("\t")
        if grade.strip() != "score" and float(grade) >= 1:
            positives[query].add(document)
    found = collections.defaultdict(list)
    for line in open(run, encoding="utf-8"):
        query, _, document, _, score, _ = line.split()
        found[query].append((float(score), document in positives[query]))
    rows = [sorted(found[q], reverse=True)[:documents] for q in found if positives[q]]
    rows = [row for row in rows if len(row) == documents and any(positive for _, positive in row)]
    return (np.array([[score for score, _ in row] for row in rows]),
            np.array([[positive for _, positive in row] for row in rows], dtype=bool))


def losses(scores, labels, thresholds):
    """Of each query and threshold the share of positives that is missed, and the share of what is shown that is wrong."""
    shown = scores[:, :, None] >= thresholds
    right = (shown & labels[:, :, None]).sum(1)
    count = shown.sum(1)
    return 1 - right / labels.sum(1)[:, None], np.where(count > 0, 1 - right / np.maximum(count, 1), 0)


def hoeffding_bentkus(total, n, risk):
    mean = min(total / n, risk)
    kl = (mean * math.log(mean / risk) if mean > 0 else 0) + (1 - mean) * math.log((1 - mean) / (1 - risk))
    return min(math.exp(-n * kl), math.e * binom.cdf(math.ceil(total), n, risk), 1)


def ours_precision(wrong):
    """The last threshold, from the highest down, before the first that fails."""
    last = None
    for g, total in enumerate(wrong.sum(0)):
        if hoeffding_bentkus(total, len(wrong), RISK) > DELTA:
            break
        last = g
    return last


def mapie_threshold(scores, labels, risk, grid):
    controller = MultiLabelClassificationController(
        predict_function=lambda rows: scores[rows[:, 0].astype(int)], risk=risk, target_level=1 - RISK,
        confidence_level=1 - DELTA if risk == "precision" else None, predict_params=grid[::-1])
    controller.calibrate(np.arange(len(scores))[:, None], labels.astype(int))
    best = np.ravel(controller.best_predict_param)[0]
    return None if best is None or np.isnan(best) else float(best)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("run")
    parser.add_argument("qrels")
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--documents", type=int, default=100)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    scores, labels = read(arguments.run, arguments.qrels, arguments.documents)
    grid = np.arange(STEPS, -1, -1) / STEPS
    missed, wrong = losses(scores, labels, grid)
    best_others = np.where(labels, -np.inf, scores).max(1)
    kept = collections.defaultdict(list)
    random = np.random.default_rng(1)
    for _ in range(arguments.splits):
        order = random.permutation(len(scores))
        first, second = order[: len(order) // 2], order[len(order) // 2:]
        n = len(first)
        # Recall on MAPIE's grid, so that both choose among the same thresholds.
        good = np.nonzero(missed[first].sum(0) + 1 <= RISK * (n + 1) + 1e-9)[0]
        kept["recall, formula"].append(1 - missed[second][:, good[0]].mean() if len(good) else np.nan)
        theirs = mapie_threshold(scores[first], labels[first], "recall", grid)
        kept["recall, MAPIE"].append(np.nan if theirs is None else
                                     1 - losses(scores[second], labels[second], np.array([theirs]))[0].mean())
        last = ours_precision(wrong[first])
        kept["precision, formula"].append(np.nan if last is None else 1 - wrong[second][:, last].mean())
        theirs = mapie_threshold(scores[first], labels[first], "precision", grid)
        kept["precision, MAPIE"].append(np.nan if theirs is None else
                                        1 - losses(scores[second], labels[second], np.array([theirs]))[1].mean())
        rank = n + 1 - math.floor(NO_ANSWER * (n + 1) + 1e-9)
        kept["no-answer, formula"].append((best_others[second] > np.sort(best_others[first])[rank - 1]).mean())
        conformal = ConformalClassifier()
        conformal.fit(best_others[first])
        values = np.ravel(conformal.predict_p(best_others[second][:, None], smoothing=False))
        kept["no-answer, crepes"].append((values <= NO_ANSWER).mean())
    print(f"# {len(scores)} queries, {arguments.splits} splits", file=sys.stderr)
    print("promise\tmean\tlowest\thighest\tbroken\tnone")
    for name, values in kept.items():
        made = np.array([value for value in values if not np.isnan(value)])
        if len(made) == 0:
            print(f"{name}\t-\t-\t-\t-\t1.000")
            continue
        limit = NO_ANSWER if name.startswith("no-answer") else 1 - RISK
        broken = (made > limit).mean() if name.startswith("no-answer") else (made < limit).mean()
        print(f"{name}\t{made.mean():.4f}\t{made.min():.4f}\t{made.max():.4f}\t{broken:.3f}\t"
              f"{1 - len(made) / len(values):.3f}")


if __name__ == "__main__":
    main()
