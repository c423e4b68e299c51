"""Runs the program on Parquet and Arrow files: JSON lines of them in its cache, and Parquet of what it makes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from ._arguments import is_output, is_table, recipes_of, values_of, wants_parquet

# Of the form of the converted files: a later one has other names.
_FORM = 1
# Keys of a recipe that name data; [[data.source]] has `path`.
_RECIPE_KEYS = (("data", "train"), ("validation", "data"))


def run(program: str, arguments: list[str]) -> int:
    """Converts what is to be converted, and runs the program. Returns an exit code, or replaces this process."""
    # What was begun goes, as where the program is stopped.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        from tandem_retrieval import Error, UsageError

        from ._outputs import encode_to_parquet, export_to_parquet
    except ImportError as error:
        print(f"error: Parquet files take the package whole, and a part of it cannot be imported: {error}",
              file=sys.stderr)
        return 2
    try:
        if wants_parquet(arguments):
            if arguments[0] == "encode":
                return encode_to_parquet(program, arguments, converted)
            if arguments[:2] == ["index", "export"]:
                return export_to_parquet(program, arguments)
            raise UsageError(f"tandem {arguments[0]} writes no Parquet file; tandem encode and tandem index export do")
        ready = converted(arguments)
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.execv(program, [program, *ready])


def converted(arguments: list[str]) -> list[str]:
    """The arguments with JSON lines, or BEIR folders, in the place of tables; --set for those of a recipe."""
    ready = list(arguments)
    given = set()
    quiet = "-q" in arguments or "--quiet" in arguments
    for value in values_of(arguments):
        if value.flag == "--set":
            given.add(value.before.removeprefix("--set=").removesuffix("="))
        if not is_output(value) and is_table(value.text):
            ready[value.index] = value.before + _as_text(value, _kept(value.text, quiet))
    for recipe in recipes_of(arguments):
        for key, path in _tables_of(recipe):
            if key in given:
                continue
            if arguments[0] != "train":
                from tandem_retrieval import UsageError

                raise UsageError(f"{recipe}: {key} is {path}, which only tandem train reads so; write JSON lines "
                                 "first: tandem_retrieval.parquet.to_jsonl")
            ready += ["--set", f"{key}={json.dumps(_kept(path, quiet))}"]
    return ready


def _as_text(value, path: str) -> str:
    return json.dumps(path) if value.flag == "--set" else path


def _tables_of(recipe: str):
    """Yields (key, path) of the tables that a recipe names; none of one that is no TOML, which the program says."""
    try:
        import tomllib
    except ImportError:
        try:
            import tomli as tomllib
        except ImportError:
            from tandem_retrieval import UsageError

            raise UsageError(f"{recipe} names Parquet or Arrow files; with Python 3.10 such a recipe takes tomli: "
                             "pip install 'tandem-retrieval[parquet]'") from None
    try:
        with open(recipe, "rb") as file:
            read = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return
    found = [(f"{section}.{key}", read[section].get(key)) for section, key in _RECIPE_KEYS
             if isinstance(read.get(section), dict)]
    sources = read["data"].get("source") if isinstance(read.get("data"), dict) else None
    for number, source in enumerate(sources if isinstance(sources, list) else [], start=1):
        if isinstance(source, dict):
            found.append((f"data.source.{number}.path", source.get("path")))
    for key, path in found:
        if isinstance(path, str) and is_table(path):
            yield key, path


def _cache() -> Path:
    """The folder of converted files: `parquet` in the program's cache (src/base/files/cache_folder.h)."""
    from tandem_retrieval import UsageError

    given = os.environ.get("TANDEM_CACHE")
    if given is not None and given != "" and not os.path.isabs(given):
        raise UsageError(f'TANDEM_CACHE is "{given}", which is no absolute path; set it to one')
    for base, inner in ((given, ""), (os.environ.get("XDG_CACHE_HOME"), "tandem"),
                        (os.environ.get("HOME"), ".cache/tandem")):
        if given == "":
            break
        if base and os.path.isabs(base):
            return Path(base) / inner / "parquet"
    raise UsageError("Parquet and Arrow files become JSON lines in the cache, and there is none: TANDEM_CACHE names "
                     "one, or write them yourself: tandem_retrieval.parquet.to_jsonl")


def _state(files) -> str:
    """Of paths, sizes and times of files: other files have another state."""
    hashed = hashlib.sha256(repr(_FORM).encode())
    for file in files:
        found = file.stat()
        hashed.update(repr((str(file.resolve()), found.st_size, found.st_mtime_ns)).encode())
    return hashed.hexdigest()[:16]


@contextmanager
def _locked(path: Path):
    """Lets one process at a time convert: of several that a launcher starts, the others take what the first made."""
    import fcntl

    with open(path, "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _kept(source: str, quiet: bool) -> str:
    """Converts a table to the cache, unless it is there, and returns the path of the result."""
    from tandem_retrieval import parquet
    from tandem_retrieval._beir_tables import beir_tables
    from tandem_retrieval._tables import pyarrow, table_files
    from tandem_retrieval._write_whole import output_error

    pyarrow(source)
    beir = beir_tables(Path(source))
    files = [*beir.corpus, *beir.queries, *sum(beir.qrels.values(), [])] if beir else table_files(source)
    name = Path(source.rstrip("/")).stem.strip("*?[]-. ") or "table"
    folder = _cache()
    made = folder / f"{name}-{_state(files)}{'' if beir else '.jsonl'}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / f"{made.name}.lock"):
            if made.exists():
                return str(made)
            if beir:
                counts = parquet.to_beir(source, made)
                told = ", ".join(f"{rows} rows of {file}" for file, rows in counts.items())
            else:
                told = f"{parquet.to_jsonl(source, made)} rows"
    except OSError as error:
        if hasattr(error, "exit_code"):
            raise
        raise output_error(folder, error) from None
    if not quiet:
        print(f"{source} -> {made} ({told})", file=sys.stderr)
    return str(made)


def run_program(program: str, arguments: list[str]) -> int:
    """Runs the program to its end, to which signals go too, and returns its exit code."""
    child = subprocess.Popen([program, *arguments])
    signal.signal(signal.SIGTERM, lambda number, _: child.send_signal(number))
    while True:
        try:
            code = child.wait()
            return code if code >= 0 else 128 - code
        except KeyboardInterrupt:
            continue  # the terminal has sent it to the program as well, which says what it keeps
