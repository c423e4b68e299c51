#!/usr/bin/env python3
"""Writes tests/eval/significance.json: p of scipy's paired permutation test and t-test, and d_z.

    python3 -m venv venv && venv/bin/pip install scipy==1.17.1
    venv/bin/python tools/golden/make_significance_golden.py tests/eval/significance.json
"""
import json
import sys

import numpy
from scipy import stats


def case(name, differences, normal):
    differences = numpy.round(numpy.asarray(differences, dtype=float), 6)
    count = int(numpy.count_nonzero(differences))
    exact = 2**count <= 200_000
    # Differences of 0 change no sum, and all patterns of the others are few enough to be looked at.
    tested = differences[differences != 0] if exact else differences
    test = stats.permutation_test(
        (tested, numpy.zeros_like(tested)), lambda a, b, axis: numpy.sum(a - b, axis=axis),
        permutation_type="samples", vectorized=True, alternative="two-sided",
        n_resamples=numpy.inf if exact else 199_999, rng=numpy.random.default_rng(1))
    return {
        "name": name, "exact": exact, "normal": normal, "differences": differences.tolist(),
        "permutation_test": float(test.pvalue),
        "ttest": float(stats.ttest_1samp(differences, 0).pvalue),
        "d_z": float(numpy.mean(differences) / numpy.std(differences, ddof=1)),
    }


def main():
    random = numpy.random.default_rng(20)
    ranks = [0, 1, 1 / 2, 1 / 3, 1 / 5, 1 / 10]
    cases = [
        case("twelve queries", random.normal(0.3, 1, 12), False),
        case("reciprocal ranks, many equal",
             random.choice(ranks, 40) - random.choice(ranks, 40), False),
        case("fifteen of forty differ", numpy.concatenate([numpy.zeros(25), random.normal(0.5, 1, 15)]),
             False),
        case("200 normal, no effect", random.normal(0, 1, 200), True),
        case("200 normal, small effect", random.normal(0.15, 1, 200), True),
        case("300 skewed", random.exponential(1, 300) - 0.9, False),
    ]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
