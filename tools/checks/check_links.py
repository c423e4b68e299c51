#!/usr/bin/env python3
"""Whether the documentation leads where it says, over all Markdown files that git knows or could add.

    python3 tools/checks/check_links.py

- A relative link names a file or folder of the repository, its anchor a heading of that page.
- A path of a source or script in backticks (`train/run/loop.h`, `tools/demo/demo.sh`) exists, from the root or from
  src/. CHANGELOG.md may name what is gone, a path with a word in capitals (`NAME_command.cc`) stands for many.
- No line of prose is longer than 120 characters; tables, code, headings and links alone may be.
- docs/README.md names every page of docs/, tools/README.md every script of tools/.

Prints each place that does not hold, and exits 1 when there is one.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 120
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.(?:h|cc|py|sh|gp|cmake))`")
PLACEHOLDER = re.compile(r"[A-Z]{3}")


def files(*patterns):
    """Files that git has or would add, relative to the root; those that are gone from the folder are left out."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns],
                           cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [name for name in names.split("\0") if name and (ROOT / name).exists()]


def anchor(heading):
    """The name that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def without_code(text):
    """The lines of a page; those of code blocks are empty."""
    lines, fence = [], None
    for line in text.split("\n"):
        mark = re.match(r" *(```+|~~~+)", line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is not None and mark and mark[1].startswith(fence):
            fence = None
        elif fence is None:
            lines.append(line)
            continue
        lines.append("")
    return lines


class Page:
    def __init__(self, name):
        self.name = name
        self.lines = without_code((ROOT / name).read_text(encoding="utf-8"))
        self.anchors = set()
        seen = collections.Counter()
        for line in self.lines:
            heading = re.match(r"#+ +(.*)", line)
            if heading:
                base = anchor(heading[1])
                self.anchors.add(f"{base}-{seen[base]}" if seen[base] else base)
                seen[base] += 1

    def links(self):
        """(line, target file or folder, anchor) of each relative link; labels may be broken over lines."""
        text = "\n".join(self.lines)
        for match in LINK.finditer(text):
            if not re.match(r"[a-z]+:", match[1]):
                path, _, name = match[1].partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(self.name), path)) if path else self.name
                yield text.count("\n", 0, match.start(1)) + 1, target, name

    def paths(self):
        for number, line in enumerate(self.lines, 1):
            for match in PATH.finditer(line):
                written = line[:match.start()].endswith("Write ")  # by the reader
                if not written and not PLACEHOLDER.search(match[1]):
                    yield number, match[1]

    def long_lines(self):
        for number, line in enumerate(self.lines, 1):
            table = line.lstrip().startswith("|")
            heading = line.startswith("#")
            code = line.startswith("    ")
            if len(line) > WIDTH and not (table or heading or code) and " " in line.strip():
                yield number, len(line)


def link_problems(pages):
    for page in pages.values():
        for number, target, name in page.links():
            if not (ROOT / target).exists():
                yield f"{page.name}:{number}: there is no {target}"
            elif name and target not in pages:
                yield f"{page.name}:{number}: {target} has no headings, #{name} leads nowhere"
            elif name and name not in pages[target].anchors:
                yield f"{page.name}:{number}: {target} has no heading #{name}"


def path_problems(pages):
    for page in pages.values():
        if page.name == "CHANGELOG.md":
            continue
        for number, path in page.paths():
            if not any((ROOT / folder / path).exists() for folder in ("", "src")):
                yield f"{page.name}:{number}: there is no {path}, neither here nor in src/"


def width_problems(pages):
    for page in pages.values():
        for number, length in page.long_lines():
            yield f"{page.name}:{number}: {length} characters, more than {WIDTH}"


def map_problems(pages):
    for name, text in (("docs", "page"), ("tools", "script")):
        readme = f"{name}/README.md"
        if readme not in pages:
            yield f"there is no {readme}"
            continue
        linked = {target for _, target, _ in pages[readme].links()}
        named = set(re.findall(r"^\| `([^`]+)`", "\n".join(pages[readme].lines), re.M))
        wanted = files("docs/*.md") if name == "docs" else files("tools/*.py", "tools/*.sh", "tools/*.gp")
        for file in wanted:
            folder = file.split("/")[-2] + "/"
            parts = {os.path.basename(file), folder} if name == "tools" and file.count("/") > 2 else {
                os.path.basename(file)}
            if file != readme and file not in linked and not parts & named:
                yield f"{readme}: has no line for the {text} {file}"
        if name == "tools":
            known = {os.path.basename(file) for file in wanted} | {file.split("/")[-2] + "/" for file in wanted}
            for each in sorted(named - known):
                yield f"{readme}: names {each}, which is not there"


def main():
    pages = {name: Page(name) for name in files("*.md")}
    problems = [problem for find in (link_problems, path_problems, width_problems, map_problems)
                for problem in find(pages)]
    print("\n".join(problems) if problems else f"{len(pages)} pages: all links lead somewhere")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
