#!/usr/bin/env python3
"""Compares `tandem tokenize` with transformers on folders whose files contradict their tokenizer.json.

    PEER_PYTHON tools/checks/check_tokenizer_settings.py build/release/tandem [COUNT [FIRST]]
    PEER_PYTHON tools/checks/check_tokenizer_settings.py --golden tests/text/golden/settings.json PROGRAM

Builds the folders of tools/checks/tokenizer_settings_cases.py, each setting by itself and COUNT (default
500) drawn together, and asks AutoTokenizer for the ids of its texts. What transformers does not
load, Tandem must refuse; what Tandem refuses besides is counted. Exits 1 at a difference and shows
it. --golden writes what tests/text/settings_golden_test.cc reads.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

os.environ["HF_HUB_OFFLINE"] = "1"
import transformers  # noqa: E402

import tokenizer_settings_cases as cases  # noqa: E402

transformers.logging.set_verbosity_error()
PINNED = "5.24.0"
GOLDEN_RANDOM = 150


def ask_package(folder, length):
    """The ids of each text, or why transformers cannot say."""
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        options = {"truncation": True, "max_length": length} if length else {}
        return [tokenizer(text, **options)["input_ids"] for text in cases.TEXTS]
    except BaseException as problem:  # the package panics, which is no Exception
        if isinstance(problem, KeyboardInterrupt):
            raise
        return f"{type(problem).__name__}: {problem}"


def ask_tandem(program, folder, length):
    texts = "".join(text + "\n" for text in cases.TEXTS)
    done = subprocess.run([program, "tokenize", "--model", folder, "--max-length", str(length)],
                          input=texts.encode(), capture_output=True)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.decode().strip()}"
    return [[int(i) for i in line.split()] for line in done.stdout.decode().split("\n")[:-1]]


def all_cases(count, first):
    return cases.one_by_one() + [cases.random_case(first + i) for i in range(count)]


def crc_of(ids):
    crc = 0
    for of_text in ids:
        crc = zlib.crc32(struct.pack("<%di" % (len(of_text) + 1), *of_text, -1), crc)
    return f"{crc:08x}"


def write_golden(program, path, work):
    lines = []
    for i, one in enumerate(all_cases(GOLDEN_RANDOM, 0)):
        folder = os.path.join(work, str(i))
        cases.write(one, folder)
        ids = ask_package(folder, one["length"])
        if isinstance(ids, str) or isinstance(ask_tandem(program, folder, 0), str):
            continue  # what Tandem refuses is no case of ids
        lines.append(json.dumps({k: v for k, v in one.items() if v} | {"crc": crc_of(ids)}))
    with open(path, "w", encoding="ascii") as out:
        out.write(f'{{"transformers": "{PINNED}",\n "texts": {json.dumps(cases.TEXTS)},\n "cases": [\n  '
                  + ",\n  ".join(lines) + "]}\n")
    print(f"{len(lines)} cases")


def short(one):
    return json.dumps({key: value for key, value in one.items() if value})


def compare(program, count, first, work):
    equal, both, alone, different = 0, 0, [], 0
    for i, one in enumerate(all_cases(count, first)):
        folder = os.path.join(work, str(i))
        cases.write(one, folder)
        package, tandem = ask_package(folder, one["length"]), ask_tandem(program, folder, one["length"])
        if package == tandem:
            equal += 1
        elif isinstance(package, str) and isinstance(tandem, str) and tandem.startswith("exit 4"):
            both += 1
        elif isinstance(tandem, str) and tandem.startswith("exit 4"):
            alone.append((short(one), tandem))
        else:
            different += 1
            print(f"different: {short(one)}")
            if isinstance(package, str) or isinstance(tandem, str):
                print(f"  tandem  {str(tandem)[:300]}\n  package {str(package)[:300]}")
                continue
            for text, a, b in zip(cases.TEXTS, package, tandem):
                if a != b:
                    print(f"  {text!r}\n    package {a}\n    tandem  {b}")
                    break
        shutil.rmtree(folder)
    for what, message in alone:
        print(f"refused: {what}\n  {message}")
    print(f"{equal} equal, {both} refused by both, {len(alone)} by Tandem alone, {different} different")
    return different == 0


def main():
    if transformers.__version__ != PINNED:
        sys.exit(f"transformers {PINNED} is needed, {transformers.__version__} is installed")
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as work:
        if sys.argv[1] == "--golden":
            return write_golden(os.path.abspath(sys.argv[3]), sys.argv[2], work)
        count = int(sys.argv[2]) if len(sys.argv) > 2 else 500
        first = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
        sys.exit(0 if compare(os.path.abspath(sys.argv[1]), count, first, work) else 1)


if __name__ == "__main__":
    main()
