"""Training runs of the program for losses.py and speed.py, and what they left."""

import json
import os
import shutil
import subprocess


def read_rows(path, event):
    with open(path, encoding="utf-8") as file:
        return [row for row in map(json.loads, file) if row["event"] == event]


def train(options, output, settings, flags=(), environment=None):
    """Trains into the folder `output`, which is made anew; `settings` are keys of the recipe."""
    shutil.rmtree(output, ignore_errors=True)
    os.makedirs(os.path.dirname(output), exist_ok=True)
    recipe = output + ".toml"
    with open(recipe, "w", encoding="utf-8") as file:
        file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
    command = [options.program, "train", recipe, "--output", output, "--quiet", *flags]
    done = subprocess.run(command, env={**os.environ, **(environment or {})}, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"exit {done.returncode} of {' '.join(command)}\n{done.stderr}")
