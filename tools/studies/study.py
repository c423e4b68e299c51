"""What the studies share: runs of the program, results that are kept, tables in a page."""

import json
import os
import re
import resource
import statistics
import subprocess
import sys


def fail(message):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def run_program(command, environment=None, expected=(0,)):
    """What it prints, and the processor seconds that it took; `expected` are the exit codes."""
    command = [*map(str, command)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in expected:
        fail(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


class Results:
    """Results in a folder, one file each: what has ended is never made again."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, re.sub("[^a-z0-9.]+", "-", name) + ".json")

    def find(self, name, settings):
        """The result `name`, if it is there and had these settings; else None."""
        if not os.path.exists(self.path(name)):
            return None
        with open(self.path(name), encoding="utf-8") as file:
            found = json.load(file)
        return found["result"] if found["settings"] == settings else None

    def keep(self, name, settings, result):
        partial = self.path(name) + ".partial"
        with open(partial, "w", encoding="utf-8") as file:
            json.dump({"name": name, "settings": settings, "result": result}, file)
        os.rename(partial, self.path(name))
        print(f"{name}: {json.dumps(result)}", file=sys.stderr, flush=True)
        return result


def write_recipe(path, values):
    """Keys and values as a recipe of dotted keys."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


def spread(values):
    return statistics.stdev(values) if len(values) > 1 else None


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def cell(mean, deviation, digits=3):
    text = number(mean, digits)
    return text if deviation is None else f"{text} ± {number(deviation, digits)}"


def markdown(rows):
    """A table of lists of texts; the first is its heading."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def update(path, text, marker="study"):
    """Puts `text` between the lines `<!-- MARKER -->` and `<!-- end -->` of a page."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    if f"<!-- {marker} -->\n" not in page:
        fail(f"{path} has no line `<!-- {marker} -->`")
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(rf"(<!-- {marker} -->\n).*?(<!-- end -->)",
                          lambda match: match[1] + text + match[2], page, flags=re.S))
