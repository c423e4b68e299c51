"""The examples of the pages on Python run, in their order, in one process, and print what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def blocks_of(page):
    """Yields (code, expected output or None) of the page's Python blocks; a text block after one is its output."""
    found = re.findall(r"```(\w*)\n(.*?)```", page, re.DOTALL)
    for (language, code), (after, output) in zip(found, [*found[1:], ("", "")]):
        if language == "python":
            yield code, output if after == "text" else None


@pytest.mark.parametrize(("name", "least", "needed"), [
    ("docs/python.md", 6, []), ("docs/python-training.md", 5, []), ("README.md", 1, []),
    ("docs/parquet.md", 2, ["pyarrow"]),
    ("docs/python-losses.md", 6, ["sentence_transformers", "datasets", "langchain_core", "llama_index.core"]),
])
def test_examples_run_and_print_what_the_page_says(model_folder, tmp_path, name, least, needed):
    for package in needed:
        pytest.importorskip(package)
    page = ROOT / name
    (tmp_path / "models").mkdir()
    os.symlink(model_folder, tmp_path / "models" / "all-MiniLM-L6-v2")
    marked, expected = [], []
    for code, output in blocks_of(page.read_text()):
        marked.append(f"print({f'== {len(expected)}'!r})\n{code}")
        expected.append(output)
    assert len(expected) >= least
    script = tmp_path / "examples.py"
    script.write_text("\n".join(marked))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    printed = re.split(r"== \d+\n", done.stdout)[1:]
    assert len(printed) == len(expected)
    for output, wanted in zip(printed, expected):
        if wanted is not None:
            assert output == wanted
