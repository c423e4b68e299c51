"""Adds a measure to a copy of the sources as docs/architecture.md says, and runs its room's tests.

  python3 tools/checks/check_entries.py [--work build/entries] [CMAKE ARGUMENTS]

The page's example is followed word for word: `Write `FILE`:` makes a file of the block below it,
`Add to `FILE`, after `TEXT`` (or `before`) puts the block there. Where the page no longer fits the
sources, this fails. Needs git, CMake, Ninja and what the half without libtorch is built from.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

PAGE = "docs/architecture.md"
BEGIN = "**A measure, as an example.**"
STEP = re.compile(
    r"(?P<write>Write `(?P<new>[^`]+)`:)|"
    r"(?:Add to `(?P<file>[^`]+)`, (?P<side>after|before) `(?P<text>[^`]+)`[^:]*:)"
)
BLOCK = re.compile(r"\n```\w+\n(.*?)\n```\n", re.S)


def fail(message):
    sys.exit(f"check_entries: {message}")


def steps(page):
    """What the example says, in its order: (new file, None, None, block) or (file, side, text, block)."""
    begin = page.find(BEGIN)
    if begin < 0:
        fail(f"{PAGE} has no paragraph {BEGIN}")
    found = []
    at = begin
    while (block := BLOCK.search(page, at)) and (step := STEP.search(page, at, block.start() + 1)):
        name = step["new"] or step["file"]
        found.append((name, step["side"], step["text"], block[1] + "\n"))
        at = block.end()
    return found


def insert(text, side, anchor, block, name):
    lines = text.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if line.strip().strip(")") == anchor]
    if len(places) != 1:
        fail(f"{name} has {len(places)} lines `{anchor}`; the page needs one")
    lines.insert(places[0] + (side == "after"), block)
    return "".join(lines)


def write(path, text):
    """Leaves a file alone that holds the text already, so that it is not compiled again."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def copy_sources(root, copy, changed):
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    names = {name for name in names if name and (root / name).is_file()}
    for old in [path for path in copy.rglob("*") if path.is_file()]:
        name = old.relative_to(copy).as_posix()
        if not name.startswith("build/") and name not in names:
            old.unlink()
    for name in names - changed:
        source, target = root / name, copy / name
        if target.exists() and target.stat().st_mtime == source.stat().st_mtime:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def run(copy, *command):
    return subprocess.run(command, cwd=copy, capture_output=True, text=True)


def expect(result, what):
    if result.returncode != 0:
        print(result.stdout[-4000:], result.stderr[-4000:], file=sys.stderr)
        fail(what)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", default="build/entries")
    options, arguments = parser.parse_known_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    copy = root / options.work / "sources"
    todo = steps((root / PAGE).read_text())
    if [step[1] is None for step in todo] != [True, False, False]:
        fail(f"{PAGE} names {len(todo)} steps; expected a new file and two that it adds to")
    copy_sources(root, copy, {step[0] for step in todo})

    texts = {}
    for name, side, anchor, block in todo:
        if side is None:
            if (root / name).exists():
                fail(f"{name} is there already; the page needs another example")
            texts[name] = block
        else:
            texts[name] = insert((root / name).read_text(), side, anchor, block, name)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    configure = ["cmake", "--preset", "release", "-Wno-dev", "-DTANDEM_WITH_TORCH=OFF", *launcher,
                 *arguments]
    for name, text in texts.items():
        write(copy / name, text)
    expect(run(copy, *configure), "the copy cannot be configured")

    print("check_entries: building the tests that run over every measure", flush=True)
    expect(run(copy, "cmake", "--build", "build/release", "--parallel", str(os.cpu_count() or 1),
               "--target", "measure_catalogue_test"), "the copy cannot be built")
    table = (copy / "build/release/src/eval/Measures_table.cc").read_text()
    descriptor = todo[1][3].split()[1]
    if f"    &{descriptor},\n" not in table:
        fail(f"{descriptor} is not in the table of measures")
    shared = os.environ.get("TANDEM_SHARED_DIR", str(root.parent / "shared"))
    tests = run(copy, "env", f"TANDEM_SHARED_DIR={shared}",
                "build/release/tests/eval/measure_catalogue_test")
    expect(tests, "the tests that run over every measure fail")
    print(f"check_entries: {descriptor} is in the table of measures; "
          f"{tests.stdout.strip().splitlines()[-1].strip()}")


if __name__ == "__main__":
    main()
