"""The grid of `tune_study.py`, and searches that look its runs up as `tandem tune` would train them."""

import itertools
import random

import tune_lookup

STEPS = 27
EVERY = 3  # a ninth: where the rungs of `tandem tune` end
GRID = {"optimizer.learning_rate": [1e-5, 3e-5, 1e-4, 3e-4, 1e-3],
        "objective.temperature": [0.01, 0.02, 0.05, 0.1],
        "objective.name": ["infonce", "mann_whitney", "samtone"]}
POINTS = [dict(zip(GRID, values)) for values in itertools.product(*GRID.values())]
SHARE = 0.15
BUDGET = round(SHARE * STEPS * len(POINTS))  # steps
START = {"optimizer.learning_rate": 3e-5, "objective.temperature": 0.05, "objective.name": "infonce"}


def best_dev(run, rung=9):
    """The best validation of a run up to so many ninths, the base's (at step 0) included."""
    return max(run["dev"][:rung + 1])


def random_search(runs, seed):
    """So many runs as the budget has, drawn without replacement; the index of the best on dev."""
    drawn = random.Random(seed).sample(range(len(runs)), BUDGET // STEPS)
    return max(drawn, key=lambda at: best_dev(runs[at]))


def hyperband_search(runs, seed):
    """Hyperband's three brackets with random draws, as many as the budget pays for when they share it."""
    order = random.Random(seed).sample(range(len(runs)), len(runs))
    in_full = []
    for rounds in ([(14, 1), (4, 3), (1, 9)], [(5, 3), (1, 9)], [(3, 9)]):
        trials, order = order[:rounds[0][0]], order[rounds[0][0]:]
        for (_, rung), (count, _) in zip(rounds, rounds[1:]):
            trials = sorted(trials, key=lambda at, rung=rung: -best_dev(runs[at], rung))[:count]
        in_full += trials
    return max(in_full, key=lambda at: best_dev(runs[at]))


def tpe_search(runs, seed, pruned):
    """Optuna's TPE, three trials at random; with its Hyperband pruner a trial reports each ninth."""
    import optuna  # pylint: disable=import-outside-toplevel
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    pruner = (optuna.pruners.HyperbandPruner(min_resource=1, max_resource=9, reduction_factor=3)
              if pruned else optuna.pruners.NopPruner())
    study = optuna.create_study(direction="maximize", pruner=pruner,
                                sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=3))
    taken = 0

    def index_of(trial):
        at = [trial.suggest_int("learning_rate", 0, len(GRID["optimizer.learning_rate"]) - 1),
              trial.suggest_int("temperature", 0, len(GRID["objective.temperature"]) - 1),
              trial.suggest_categorical("objective", range(len(GRID["objective.name"])))]
        return (at[0] * len(GRID["objective.temperature"]) + at[1]) * len(GRID["objective.name"]) + at[2]

    def objective(trial):
        nonlocal taken
        at = index_of(trial)
        trial.set_user_attr("at", at)
        for rung in range(1, 10):
            if taken + EVERY > BUDGET:
                raise optuna.TrialPruned
            taken += EVERY
            trial.report(best_dev(runs[at], rung), rung)
            if rung < 9 and trial.should_prune():
                raise optuna.TrialPruned
        return best_dev(runs[at])

    while taken + EVERY <= BUDGET:
        study.optimize(objective, n_trials=1)
    return study.best_trial.user_attrs["at"]


def own_search(runs, seed):
    return tune_lookup.search(POINTS, POINTS.index(START), lambda at, ninths: best_dev(runs[at], ninths), GRID,
                              seed)


SEARCHES = {
    "the search of `tandem tune`, looked up": own_search,
    "random search": random_search,
    "Hyperband, random draws": hyperband_search,
    "Optuna, TPE": lambda runs, seed: tpe_search(runs, seed, False),
    "Optuna, TPE with Hyperband": lambda runs, seed: tpe_search(runs, seed, True),
}
