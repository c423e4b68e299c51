#!/usr/bin/env python3
"""Whether a user's files mean what they mean to the peer whose format they have.

    check_meanings.py --program build/release/tandem [--model MODEL] [--peer-python PYTHON] [WORD]...

Builds inputs that a program can misread in silence (tools/checks/meanings/, one module a subject), runs `tandem`
on each, and says what is right: as the peer reads it where --peer-python has the peer, as written down in
the case elsewhere. WORDs choose cases by their titles. Exit code 1 where one was misread; cases that need
what is not here are named.
"""
import argparse
import importlib
import pathlib
import pkgutil
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import meanings  # noqa: E402
from meanings.case import CASES, Bench, Misread, NotHere  # noqa: E402


def run(case, arguments, work):
    folder = work / re.sub(r"\W+", "_", case.title)
    folder.mkdir()
    bench = Bench(arguments.program, folder, arguments.model, arguments.peer_python)
    try:
        case.function(bench)
    except Misread as problem:
        return "MISREAD", str(problem)
    except NotHere as problem:
        return "not seen", str(problem)
    by = f" ({case.peer}, asked)" if bench.peer_seen else f" ({case.peer})" if case.peer else ""
    return "right", case.right + by


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/release/tandem")
    parser.add_argument("--model")
    parser.add_argument("--peer-python")
    parser.add_argument("--keep", help="a new folder for the inputs, which stays")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    arguments.program = str(pathlib.Path(arguments.program).resolve())
    if arguments.model:
        arguments.model = str(pathlib.Path(arguments.model).resolve())
    for module in pkgutil.iter_modules(meanings.__path__):
        importlib.import_module(f"meanings.{module.name}")
    work = pathlib.Path(arguments.keep or tempfile.mkdtemp())
    if arguments.keep:
        work.mkdir(parents=True)
    counts = {"right": 0, "MISREAD": 0, "not seen": 0}
    for case in CASES:
        if arguments.words and not any(word in case.title for word in arguments.words):
            continue
        outcome, text = run(case, arguments, work)
        counts[outcome] += 1
        print(f"{outcome}: {case.title}: {text}", flush=True)
    if not arguments.keep:
        shutil.rmtree(work)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    sys.exit(1 if counts["MISREAD"] or not counts["right"] else 0)


if __name__ == "__main__":
    main()
