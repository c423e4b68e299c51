"""Starts the program `tandem` of the package: a module of its own, so that the command imports no numpy."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Replaces this process by the program."""
    spec = find_spec("tandem_retrieval")
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        program = Path(folder) / "bin" / "tandem"
        if program.exists():
            os.execv(program, [str(program), *sys.argv[1:]])
    sys.exit("tandem: the package tandem-retrieval lacks its program; install it again")
