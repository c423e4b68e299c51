"""What two run folders are compared by, for the checks that train the same run in several ways.

Needs only the standard library.
"""

import os

# Not promised to be the same: wall times, who holds the run, how it was started.
NOT_COMPARED = {"timing.jsonl", "run.lock", "recipe.given.toml"}


def contents(folder):
    """{path in the folder: bytes} of every file that is compared."""
    files = {}
    for place, _, names in os.walk(folder):
        for name in names:
            if name not in NOT_COMPARED:
                path = os.path.join(place, name)
                with open(path, "rb") as file:
                    files[os.path.relpath(path, folder)] = file.read()
    return files
