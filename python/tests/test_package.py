"""The package as it is installed: the program, versions, types, the time of an import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tandem_retrieval as tandem


def test_the_program_has_the_packages_version(program):
    done = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    assert tandem.__version__ in done.stdout.splitlines()[0]


def test_the_program_ends_with_its_own_codes(program):
    done = subprocess.run([program, "encode", "--nosuch"], capture_output=True, text=True)
    assert done.returncode == 2


def test_types_are_there():
    folder = Path(tandem.__file__).parent
    assert (folder / "py.typed").exists()
    assert "def open_model(" in (folder / "_tandem.pyi").read_text()


def test_every_public_name_is_described():
    for name in tandem.__all__:
        public = getattr(tandem, name)
        if isinstance(public, type) or callable(public):
            assert public.__doc__, name
    for public in (tandem.Model, tandem.Index, tandem.Evaluation, tandem.Run):
        for name, member in vars(public).items():
            if not name.startswith("_"):
                assert getattr(member, "__doc__", None), f"{public.__name__}.{name}"


def test_it_shows_one_symbol():
    from tandem_retrieval import _tandem

    done = subprocess.run(["nm", "-D", "--defined-only", "--extern-only", _tandem.__file__], capture_output=True,
                          text=True)
    if done.returncode != 0:
        pytest.skip("there is no nm")
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["PyInit__tandem"]


def test_an_import_leaves_out_what_runs_the_program():
    code = ("import sys, numpy; before = set(sys.modules); import tandem_retrieval as tandem; "
            "print(*(set(sys.modules) - before)); tandem.train; tandem.compare; print(*sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    at_once, at_last = (set(line.split()) for line in done.stdout.splitlines())
    later = {"tandem_retrieval._commands", "tandem_retrieval._program", "tandem_retrieval._runs", "html", "json",
             "logging", "subprocess", "tempfile"}
    assert not later & at_once
    assert not {name.split(".")[0] for name in at_once} & {"torch", "pandas", "polars", "pyarrow", "datasets", "tqdm"}
    assert later - {"html"} <= at_last


def test_all_names_are_there_before_they_are_used():
    code = ("import tandem_retrieval as tandem; print(*(name for name in tandem.__all__ if name not in dir(tandem))); "
            "from tandem_retrieval import *; print(train.__module__, Run.__module__, hasattr(tandem, 'trian'))")
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "\ntandem_retrieval._runs tandem_retrieval._runs False\n"


def test_the_import_takes_no_threads_and_no_network():
    code = "import threading, tandem_retrieval, os; print(len(os.listdir('/proc/self/task')))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True,
                          env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert done.stdout == "1\n"
