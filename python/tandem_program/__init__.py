"""Starts the program `tandem` of the package: a module of its own, so that the command imports no numpy.

Where arguments are Parquet or Arrow files, which the program does not read, they become JSON lines first, and the
program is given these (docs/parquet.md).
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path


def program() -> str:
    """The path of the program. Exits with a message where the package lacks it."""
    spec = find_spec("tandem_retrieval")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        found = Path(folder) / "bin" / "tandem"
        if found.exists():
            return str(found)
    sys.exit("tandem: the package tandem-retrieval lacks its program; install it again")


def main() -> None:
    """Replaces this process by the program, or does what Parquet files take and then runs it."""
    arguments = sys.argv[1:]
    started = program()
    from ._arguments import has_tables

    if has_tables(arguments):
        from ._tables import run

        sys.exit(run(started, arguments))
    os.execv(started, [started, *arguments])
