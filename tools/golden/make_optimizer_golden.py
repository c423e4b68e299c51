#!/usr/bin/env python3
"""Writes what torch's Adam and AdamW and transformers' Adafactor make of small parameters.

usage: make_optimizer_golden.py [OUTPUT]   (default tests/optim/golden/optimizers.json)

Needs torch and transformers. Everything runs in float64: the tests compare float32 with it. Values
and gradients are made by a formula that the test repeats, so that only results are kept.
"""
import json
import pathlib
import sys

import torch
import transformers
from transformers.optimization import Adafactor

SHAPES = {"matrix": [5, 7], "vector": [6], "blocks": [2, 3, 4], "plain": [3, 4]}
STEPS = 6


def number(parameter, index, step):
    """In [-1, 1); rounded to float32."""
    mixed = (7919 * (parameter + 1) + 104729 * index + 1299709 * step) % 2003
    return mixed / 1001.5 - 1.0


def tensor(parameter, shape, step, scale):
    count = 1
    for size in shape:
        count *= size
    values = [scale * number(parameter, i, step) for i in range(count)]
    return torch.tensor(values, dtype=torch.float32).double().reshape(shape)


def gradient(parameter, shape, step):
    value = tensor(parameter, shape, step, 2.0**-step)
    if shape == [5, 7] and step < 4:
        value[3] = 0  # an embedding row that no text has used yet
    return value


def run(make):
    parameters = [
        torch.nn.Parameter(tensor(p, shape, 0, 0.5)) for p, shape in enumerate(SHAPES.values())
    ]
    optimizer = make(parameters[:-1], parameters[-1:])
    for step in range(1, STEPS + 1):
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * step
        for p, (parameter, shape) in enumerate(zip(parameters, SHAPES.values())):
            parameter.grad = gradient(p, shape, step)
        optimizer.step()
    return {name: p.detach().flatten().tolist() for name, p in zip(SHAPES, parameters)}


def groups(decayed, plain, decay):
    return [{"params": decayed, "weight_decay": decay}, {"params": plain, "weight_decay": 0.0}]


def adam(beta1, beta2, epsilon):
    return lambda decayed, plain: torch.optim.Adam(
        decayed + plain, lr=0.1, betas=(beta1, beta2), eps=epsilon
    )


def adamw(beta1, beta2, epsilon, weight_decay):
    return lambda decayed, plain: torch.optim.AdamW(
        groups(decayed, plain, weight_decay), lr=0.1, betas=(beta1, beta2), eps=epsilon
    )


def adafactor(scale_parameter, clip_threshold, decay_exponent, weight_decay, scale_epsilon):
    return lambda decayed, plain: Adafactor(
        groups(decayed, plain, weight_decay),
        lr=0.1,
        eps=(1e-30, scale_epsilon),
        clip_threshold=clip_threshold,
        decay_rate=-decay_exponent,
        scale_parameter=scale_parameter,
        relative_step=False,
    )


CASES = [
    ("adam", adam, {"beta1": 0.9, "beta2": 0.98, "epsilon": 1e-8}),
    ("adam", adam, {"beta1": 0.5, "beta2": 0.7, "epsilon": 1e-3}),
    ("adamw", adamw, {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.01}),
    ("adamw", adamw, {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-6, "weight_decay": 0.5}),
]
for keys in [(True, 1.0, 0.8, 0.0, 1e-3), (False, 1.0, 0.8, 0.0, 1e-3),
             (True, 0.3, 0.5, 0.5, 0.4), (False, 0.2, 0.8, 0.1, 1e-3)]:
    names = ["scale_parameter", "clip_threshold", "decay_exponent", "weight_decay", "scale_epsilon"]
    CASES.append(("adafactor", adafactor, dict(zip(names, keys))))


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else (
        root / "tests" / "optim" / "golden" / "optimizers.json")
    cases = [
        {"name": name, "parameters": keys, "weights": run(make(**keys))}
        for name, make, keys in CASES
    ]
    made_by = f"torch {torch.__version__.split('+')[0]}, transformers {transformers.__version__}"
    output.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join("  " + json.dumps(case) for case in cases)
    head = f'"made_by": {json.dumps(made_by)}, "steps": {STEPS}, "shapes": {json.dumps(SHAPES)}'
    output.write_text(f'{{{head},\n "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
