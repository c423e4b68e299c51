"""What the program makes, as Parquet: embeddings of `encode`, documents of `index export`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from tandem_retrieval import UsageError, parquet
from tandem_retrieval._tables import pyarrow, table_files

from ._arguments import is_output, is_table, values_of

# By the variables that docs/distributed.md has: how many processes a launcher has started.
_PROCESSES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")


def _output_of(arguments: list[str]) -> str:
    return next(value.text for value in values_of(arguments) if is_output(value))


def _with_output(arguments: list[str], output: str) -> list[str]:
    ready = list(arguments)
    for value in values_of(arguments):
        if is_output(value):
            ready[value.index] = value.before + output
    return ready


def _take_fields(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Separates --field NAME, which only Parquet output has."""
    rest, fields = [], []
    left = iter(arguments)
    for argument in left:
        name, equals, text = argument.partition("=")
        if name != "--field":
            rest.append(argument)
            continue
        text = text if equals else next(left, "")
        if not text:
            raise UsageError("--field takes the name of a column")
        fields.append(text)
    for field in fields:
        if fields.count(field) > 1 or field in ("id", "embedding"):
            raise UsageError(f"--field {field}: each further column has a name of its own, and none is called id or "
                             "embedding")
    return rest, fields


def _check_encode(arguments: list[str]) -> None:
    for value in arguments:
        if value.partition("=")[0] in ("--shard", "--output-format"):
            raise UsageError(f"{value.partition('=')[0]} is not for a Parquet file: of shards, let each encode its "
                             "own files into one of its own (docs/scale-out.md)")
    for name in _PROCESSES:
        if os.environ.get(name, "1") != "1":
            raise UsageError(f"several processes ({name}={os.environ[name]}) encode into parts, a folder; one writes "
                             "a Parquet file (docs/scale-out.md)")


def _inputs_of(arguments: list[str]) -> list[str]:
    return [value.text for value in values_of(arguments) if not is_output(value) and is_table(value.text)]


def encode_to_parquet(program: str, arguments: list[str], converted: Callable[[list[str]], list[str]]) -> int:
    """Runs `tandem encode` into a folder beside the output, and makes a Parquet file of what is in it.

    The folder, NAME.parquet.encoding, has what --resume goes on with; it goes once the file is complete.
    """
    arguments, fields = _take_fields(arguments)
    _check_encode(arguments)
    output = Path(_output_of(arguments))
    pyarrow(output)
    if output.exists() and "--force" not in arguments:
        raise UsageError(f"{output} is there already; --force encodes anew and replaces it")
    inputs = _inputs_of(arguments)
    if fields:
        _check_fields(arguments, inputs, fields)
    work = output.with_name(output.name + ".encoding")
    ready = converted(_with_output(arguments, str(work)))
    if (work / "embeddings.npy").exists() and "--resume" not in arguments and "--force" not in arguments:
        ready.append("--force")  # the folder is this launcher's own
    from ._tables import run_program

    code = run_program(program, ready)
    if code != 0:
        return code
    rows = _write(output, work, inputs, fields)
    shutil.rmtree(work)
    if not ("-q" in arguments or "--quiet" in arguments):
        print(f"{rows} embeddings -> {output}", file=sys.stderr)
    return 0


def _check_fields(arguments: list[str], inputs: list[str], fields: list[str]) -> None:
    from tandem_retrieval._tables import column_names, columns_of

    if not inputs:
        raise UsageError("--field takes columns of Parquet or Arrow inputs, and there is none")
    if "-" in arguments:
        raise UsageError("--field takes columns of Parquet and Arrow inputs, and standard input is none")
    for source in inputs:
        for file in table_files(source):
            names = column_names(file)
            for field in fields:
                if field not in names:
                    raise UsageError(f"--field {field}: {file} has no such column; it has {', '.join(names)}")


def _write(output: Path, work: Path, inputs: list[str], fields: list[str]) -> int:
    import numpy as np

    embeddings = np.load(work / "embeddings.npy", mmap_mode="r")
    columns = (batch for source in inputs for batch in parquet.columns(source, fields)) if fields else None
    with open(work / "ids.txt", encoding="utf-8", newline="\n") as ids:
        return parquet.write_embeddings(output, (line.removesuffix("\n") for line in ids), embeddings, columns, force=True)


def export_to_parquet(program: str, arguments: list[str]) -> int:
    """Runs `tandem index export --to jsonl`, and makes a Parquet file of the lines as they come."""
    output = Path(_output_of(arguments))
    pyarrow(output)
    force = "--force" in arguments
    if output.exists() and not force:
        raise UsageError(f"{output} is there already; --force replaces it")
    ready = _with_output([argument for argument in arguments if argument != "--force"], "-")
    ready = _as_lines(ready)
    types = _field_types(program, ready)
    child = subprocess.Popen([program, *ready], stdout=subprocess.PIPE)
    try:
        rows = _write_lines(output, child, types)
    except _Failed:
        code = child.wait()
        return code if code >= 0 else 128 - code
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
            child.wait()
    if not ("-q" in arguments or "--quiet" in arguments):
        print(f"{rows} documents -> {output}", file=sys.stderr)
    return 0


def _as_lines(arguments: list[str]) -> list[str]:
    ready, left, named = [], iter(arguments), False
    for argument in left:
        name, equals, text = argument.partition("=")
        if name != "--to":
            ready.append(argument)
            continue
        named = True
        text = text if equals else next(left, "")
        if text != "parquet":
            raise UsageError(f"--to is {text}, and --output a Parquet file; expected --to parquet")
    if not named:
        raise UsageError("--to is not given; expected --to parquet")
    return [*ready, "--to", "jsonl"]


def _write_lines(output: Path, child: subprocess.Popen, types: dict[str, str]) -> int:
    """Raises _Failed where the program does; nothing is written then."""

    def check() -> None:
        if child.wait() != 0:
            raise _Failed

    return parquet.write_batches(output, _batches(child.stdout, types), check)


class _Failed(Exception):
    """The program has ended with an error, which it has said."""


def _field_types(program: str, arguments: list[str]) -> dict[str, str]:
    """The types of an index's fields, "string" or "number"; none where there is no index, which the export says."""
    folder = next((value.text for value in values_of(arguments)
                   if os.path.isfile(os.path.join(value.text, "index.json"))), None)
    if folder is None:
        return {}
    info = subprocess.run([program, "index", "info", folder, "--format", "json"], capture_output=True, text=True)
    fields = json.loads(info.stdout)["fields"] if info.returncode == 0 else []
    return {field["name"]: field["type"] for field in fields}


def _batches(lines: Iterable[bytes], types: dict[str, str]) -> Iterator:
    """Batches of lines as `index export --to jsonl` writes them."""
    import numpy as np
    import pyarrow

    of_type = {"number": pyarrow.float64(), "string": pyarrow.string()}
    left = iter(lines)
    while block := [json.loads(line) for line in islice(left, parquet.ROW_GROUP)]:
        rows = np.array([row.pop("embedding") for row in block], np.float32)
        ids = [row.pop("id") for row in block]
        fields = {name: pyarrow.array([row[name] for row in block], of_type[types.get(name, "string")])
                  for name in block[0]}
        yield parquet.embedding_batch(ids, rows, fields)
