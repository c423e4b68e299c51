"""What studies write and read: JSON, TOML, hashes of files; and how they say what goes on."""

import hashlib
import json
import os
import sys


class RunError(Exception):
    pass


def say(text):
    print(f"study: {text}", file=sys.stderr, flush=True)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_json(path, value):
    with open(path + ".partial", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, sort_keys=True)
        file.write("\n")
    os.replace(path + ".partial", path)


def toml_text(values):
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


def hash_of(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def file_hash(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


def weights_of(model):
    """The files of a model folder, in the order of their names."""
    return sorted(os.path.join(model, name) for name in os.listdir(model)
                  if os.path.isfile(os.path.join(model, name)))
