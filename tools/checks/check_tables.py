#!/usr/bin/env python3
"""Whether `tandem import` reads tables as Python's csv module and pandas read them.

    check_tables.py --program build/release/tandem [--files 300] [--seed 1] [--peer-python PYTHON]

Generates CSV files of two columns, honest ones and broken ones (quotes anywhere, line ends of all kinds inside and
outside of quotes, blanks, ragged rows, bytes that are not UTF-8, NUL), imports each, and compares with Python's csv:

- every pair that was imported is a row of Python's with exactly these two texts;
- every row of Python's with two texts was imported, unless it is among the rejected ones; and no row is rejected
  that is plain (what csv.writer would have written for its fields, in UTF-8, without NUL);
- where a quote never closes, the file is refused, and pandas refuses it too.

With --peer-python, a Python that has pandas, rows are also compared with pandas.read_csv(dtype=str,
keep_default_na=False) wherever that reads the file. Exit code 1 where anything differs.
"""
import argparse
import csv
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

PIECES = ["a", "word", "two words", " ", "  x", "y ", ",", ";", "'", "\u00e4\u00f6", "\u4f60\u597d", "5", "\t", "."]
PANDAS = """
import io, json, sys
import pandas
for line in sys.stdin:
    path, delimiter = json.loads(line)
    try:
        frame = pandas.read_csv(path, sep=delimiter, dtype=str, keep_default_na=False, encoding="utf-8",
                                engine="c", index_col=False)
        rows = [list(row) for row in frame.itertuples(index=False)] if list(frame.columns) == ["q", "d"] else None
    except Exception as problem:
        rows = None
    print(json.dumps(rows), flush=True)
"""


def text(draw):
    return "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 5)))


def field(draw, wild):
    """A field as bytes: as csv.writer writes it, or anything."""
    value = text(draw)
    kind = draw.random()
    if kind < 0.2:
        value += draw.choice(["\n", "\r\n", "\r", '"', '""', '","']) + text(draw)
    if wild and draw.random() < 0.15:
        field = draw.choice([value + '"' + value, '"' + value.replace('"', '') + '"' + "tail", '"' + value,
                             '"a" ', '""x', ' "a"', '"', '""', '"""', "\0", "caf\udce9"])
        return field.encode("utf-8", "surrogateescape")
    if any(character in value for character in ',;\t"\r\n') or draw.random() < 0.3:
        value = '"' + value.replace('"', '""') + '"'
    return value.encode()


def table(draw, delimiter):
    wild = draw.random() < 0.6
    end = draw.choice([b"\n", b"\r\n", b"\r"])
    lines = [b"q" + delimiter + b"d"]
    for _ in range(draw.randint(1, 12)):
        count = 2 if draw.random() < 0.9 else draw.randint(1, 3)
        lines.append(delimiter.join(field(draw, wild) for _ in range(count)))
        if draw.random() < 0.1:
            lines.append(b"")
    return end.join(lines) + (end if draw.random() < 0.7 else b"")


def rows_of_python(data, delimiter):
    """All rows, as lists of texts, those with broken bytes as None."""
    decoded = data.decode("utf-8", "surrogateescape")
    reader = csv.reader(io.StringIO(decoded, newline=""), delimiter=delimiter)
    rows = []
    for row in reader:
        if not row:
            continue
        whole = all(not any(0xD800 <= ord(c) <= 0xDFFF or c == "\0" for c in value) for value in row)
        rows.append(row if whole else None)
    return rows[1:]


def import_file(program, path, output):
    result = subprocess.run(
        [program, "import", path, "-o", output, "--holdout", "0", "--max-rejected", "100%", "--query", "q",
         "--document", "d", "--delimiter", "comma"], capture_output=True, text=True, errors="replace")
    return result.returncode, result.stderr


def read_folder(output):
    def lines(name):
        with open(output / name, encoding="utf-8", newline="") as file:
            return [json.loads(line) for line in file.read().split("\n") if line]
    queries = {row["_id"]: row["text"] for row in lines("queries.jsonl")}
    documents = {row["_id"]: row["text"] for row in lines("corpus.jsonl")}
    pairs = set()
    with open(output / "qrels" / "train.tsv", encoding="utf-8") as file:
        for line in file.read().splitlines()[1:]:
            query, document, _ = line.split("\t")
            pairs.add((queries[query], documents[document]))
    rejected = [row["row"] for row in lines("rejected.jsonl")] if (output / "rejected.jsonl").exists() else []
    return pairs, rejected


def compare(data, code, error, output, pandas_rows):
    rows = rows_of_python(data, ",")
    if code != 0:
        if "never closes" in error:
            return None if pandas_rows is None else "refused for an open quote, which pandas reads"
        usable = [row for row in rows if row and len(row) == 2 and all(value.strip(" \t\r\n\v\f") for value in row)]
        plain = [row for row in usable if not any('"' in value for value in row)]
        return f"refused with rows that can be used: {plain[:2]}: {error}" if plain and b'"' not in data else None
    pairs, rejected = read_folder(output)
    expected = {tuple(row) for row in rows if row and len(row) == 2}
    wrong = pairs - expected
    if wrong:
        return f"imported what Python does not read: {sorted(wrong)[:2]}"
    if pandas_rows is not None:
        wrong = pairs - {tuple(row) for row in pandas_rows}
        if wrong:
            return f"imported what pandas does not read: {sorted(wrong)[:2]}"
    excused = {tuple(row) for raw in rejected for row in csv.reader(io.StringIO(raw, newline=""))}
    for row in expected - pairs - excused:
        if all(value.strip(" \t\r\n\v\f") for value in row):
            return f"lost {row}, which is not among the rejected"
    for raw in rejected:
        if "\ufffd" in raw or "\0" in raw:
            continue
        try:
            parsed = list(csv.reader(io.StringIO(raw, newline=""), strict=True))
        except csv.Error:
            continue
        if len(parsed) != 1 or len(parsed[0]) != 2:
            continue
        if all(value.strip(" \t\r\n\v\f") for value in parsed[0]):
            return f"rejected a plain row: {raw!r}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/release/tandem")
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer-python")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    pandas = None
    if arguments.peer_python:
        pandas = subprocess.Popen([arguments.peer_python, "-c", PANDAS], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
    draw = random.Random(arguments.seed)
    counts = {"imported": 0, "refused": 0, "read by pandas": 0, "pairs": 0, "rejected rows": 0}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.files):
            path = pathlib.Path(folder) / f"{number}.csv"
            output = pathlib.Path(folder) / f"{number}"
            data = table(draw, b",")
            path.write_bytes(data)
            code, error = import_file(program, str(path), str(output))
            if code not in (0, 2, 3):
                sys.exit(f"exit code {code} for {data!r}: {error}")
            pandas_rows = None
            if pandas:
                pandas.stdin.write(json.dumps([str(path), ","]) + "\n")
                pandas.stdin.flush()
                pandas_rows = json.loads(pandas.stdout.readline())
                counts["read by pandas"] += pandas_rows is not None
            problem = compare(data, code, error, output, pandas_rows)
            if problem:
                sys.exit(f"file {number}: {problem}\n{data!r}")
            counts["imported" if code == 0 else "refused"] += 1
            if code == 0:
                pairs, rejected = read_folder(output)
                counts["pairs"] += len(pairs)
                counts["rejected rows"] += len(rejected)
    print("read as Python reads them: " + ", ".join(f"{name} {count}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
