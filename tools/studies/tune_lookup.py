"""The search of `tandem tune` again, written from docs/tuning.md, over the runs of a grid: halving of
configurations that are drawn at random, then full runs where Gaussian process regression promises most.

`next_draw` also says what the program must draw after given trials, so that the two are compared.
"""

import math
import random

import numpy as np

LENGTH_SCALE, OTHER, NOISE, EXPLORATION = 0.7, 0.7, 0.05, 0.25
FIRST = [(12, 1), (4, 3), (1, 9)]  # trials and ninths of a run; what is left of 81 ninths is full runs
FULL_RUNS = 6


def positions(grid):
    """For each key a function from its value to a place from 0 to 1; None for names."""
    places = []
    for values in grid.values():
        if isinstance(values[0], str):
            places.append(None)
            continue
        low, high = min(values), max(values)
        scale = math.log if low > 0 and high >= 10 * low else float
        places.append(lambda value, low=low, high=high, scale=scale:
                      (scale(value) - scale(low)) / (scale(high) - scale(low)))
    return places


def likeness(points, others, grid):
    squares = np.zeros((len(points), len(others)))
    product = np.ones((len(points), len(others)))
    for key, place in zip(grid, positions(grid)):
        if place is None:
            names, of_others = [[point[key] for point in some] for some in (points, others)]
            product *= np.where(np.array(names)[:, None] == np.array(of_others)[None], 1, OTHER)
        else:
            a, b = [np.array([place(point[key]) for point in some]) for some in (points, others)]
            squares += (a[:, None] - b[None]) ** 2
    return product * np.exp(-squares / (2 * LENGTH_SCALE ** 2))


def comparable(trials):
    """The value of each trial at its longest length, less what such lengths bring on average."""
    lengths = sorted({length for values in trials for length in values})
    offsets = {lengths[0]: 0.0}
    for longer in lengths[1:]:
        found = [values[longer] - values[shorter] + offsets[shorter] for shorter in lengths
                 if shorter < longer for values in trials if longer in values and shorter in values]
        offsets[longer] = float(np.mean(found)) if found else 0.0
    return np.array([values[max(values)] - offsets[max(values)] for values in trials])


def next_draw(points, tried, trials, grid):
    """The index of the point, of those not tried, of which most is promised; `trials` are the values of
    `tried` (indices of points) by length."""
    values = comparable(trials)
    seen = [points[at] for at in tried]
    rest = [at for at in range(len(points)) if at not in tried]
    spread = values.std() or 1.0
    known = likeness(seen, seen, grid) + NOISE * np.eye(len(seen))
    across = likeness([points[at] for at in rest], seen, grid)
    mean = across @ np.linalg.solve(known, (values - values.mean()) / spread)
    variance = 1 - np.einsum("ij,ji->i", across, np.linalg.solve(known, across.T))
    promise = mean + EXPLORATION * np.sqrt(np.maximum(variance, 0))
    return rest[int(np.argmax(promise))]


def search(points, start, value, grid, seed):
    """The index of the point that the search chooses; `value(at, ninths)` is a run's best validation so far."""
    others = [at for at in range(len(points)) if at != start]
    tried = [start, *random.Random(seed).sample(others, FIRST[0][0] - 1)]
    trials = [{} for _ in tried]
    left = range(len(tried))
    for (_, ninths), (count, _) in zip(FIRST, [*FIRST[1:], (1, 9)]):
        for trial in left:
            trials[trial][ninths] = value(tried[trial], ninths)
        left = sorted(left, key=lambda trial, ninths=ninths: -trials[trial][ninths])[:count]
    for _ in range(FULL_RUNS):
        tried.append(next_draw(points, tried, trials, grid))
        trials.append({9: value(tried[-1], 9)})
    in_full = [trial for trial, values in enumerate(trials) if 9 in values]
    return tried[max(in_full, key=lambda trial: trials[trial][9])]
