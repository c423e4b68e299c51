"""Data files that are not what they are given as: other formats, other encodings, cut ones."""
import bz2
import gzip
import io
import json
import zipfile

from meanings.case import case

GOOD = {"query": "what is a whale", "positive": "a mammal", "negative": "a fish"}
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4665\nsize 90868376\n"


def zipped(name):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "<Types/>")
    return out.getvalue()


def two_lines(second):
    return (json.dumps(GOOD) + "\n").encode() + second


@case("lines of training data that are no JSON")
def lines_that_are_no_json(bench):
    "Each says what it is, with line, column and member, and what to do."
    inputs = {
        "nan": (two_lines(b'{"query": "q", "positive": "p", "score": NaN}\n'),
                ":2:", "column 42, in `score`: NaN is no number of JSON", "write null"),
        "infinity": (b'{"query": "q", "positive": "p", "scores": [1, -Infinity]}\n',
                     ":1:", "`scores[1]`: -Infinity is no number"),
        "array": (json.dumps([GOOD, GOOD]).encode(), ":1:", "begins a JSON array", "jq -c '.[]'"),
        "array_of_lines": (json.dumps([GOOD], indent=0).encode(), ":1:", "begins a JSON array"),
        "pretty": (json.dumps(GOOD, indent=2).encode() + b"\n",
                   ":1:", "the object does not end on its line", "jq -c ."),
        "python": (repr(GOOD).encode(), ":1:", "single quotes, as Python prints it", "json.dumps"),
        "none": (two_lines(b'{"query": "q", "positive": None}\n'), ":2:", "None is Python's"),
        "csv": (b"query,positive\nq,p\n", ":1:", "separated by commas (CSV)", "pandas.read_csv"),
        "tsv": (b"query\tpositive\nq\tp\n", ":1:", "separated by tabs (TSV)", 'sep="\\t"'),
        "two": (json.dumps(GOOD).encode() * 2, ":1:", "a second object begins on the line"),
        "comma": (json.dumps(GOOD).encode() + b",\n" + json.dumps(GOOD).encode(),
                  ":1:", "a comma stands after the object"),
        "trailing": (b'{"query": "q", "positive": "p",}\n', ":1:", "column 32: a comma before }"),
        "comment": (b'{"query": "q", // the question\n', ":1:", "a comment; JSON has none"),
        "cut": (two_lines(b'{"query": "q", "posit'), ":2:", "the file is cut short"),
        "latin": (two_lines(b'{"query": "caf\xe9", "positive": "p"}\n'),
                  ":2:", "is not valid UTF-8: the byte 0xE9 at column 15", "iconv"),
        "control": (b'{"query": "a\tb", "positive": "p"}\n', ":1:", "U+0009", "write \\t"),
        "surrogate": (b'{"query": "q", "positive": "\\ud83d"}\n',
                      ":1:", "in `positive`: the lone surrogate \\ud83d"),
        "plain": (b"what is a whale?\n", ":1:", 'begins with "what is a whale?"'),
        "html": (b"<!DOCTYPE html>\n<html>", ":1:", "is an HTML page"),
        "keys": (b'{query: "q"}\n', ":1:", "the key query stands without quotes"),
    }
    for name, (content, *words) in inputs.items():
        path = bench.bytes(f"{name}.jsonl", content)
        ended = bench.tandem("inspect", path)
        bench.refused(ended, 3, path, *words)
        if "improper structure" in ended.stderr:
            bench.equal(ended.stderr, "our own words", name)


@case("files of another kind as data")
def files_of_another_kind(bench):
    "They are refused by name, with the command that makes lines of UTF-8 of them."
    line = json.dumps({"_id": "d", "text": "x", "query": "q", "positive": "p"}) + "\n"
    inputs = {
        "pointer": (POINTER, "is a Git LFS pointer", "git lfs pull"),
        "utf16": (line.encode("utf-16"), "is UTF-16LE, expected UTF-8", "iconv -f UTF-16 -t UTF-8"),
        "utf16le": (line.encode("utf-16-le"), "iconv -f UTF-16LE -t UTF-8"),
        "utf16be": (line.encode("utf-16-be"), "iconv -f UTF-16BE -t UTF-8"),
        "utf32": (line.encode("utf-32"), "is UTF-32LE"),
        "twice": (gzip.compress(gzip.compress(line.encode())), "is gzip-compressed; unpack"),
        "zip": (zipped("train.jsonl"), "is a zip archive"),
        "xlsx": (zipped("[Content_Types].xml"), "is an Excel workbook", "pandas.read_excel"),
        "parquet": (b"PAR1\x15\x04\x15\x10", "is a Parquet file", "pandas.read_parquet"),
        "bz2": (bz2.compress(line.encode()), "is bzip2-compressed"),
        "pickle": (b"\x80\x04\x95\x10\0\0\0", "is a pickle"),
    }
    for name, (content, *words) in inputs.items():
        path = bench.bytes(f"{name}.jsonl", content)
        bench.refused(bench.tandem("inspect", path), 3, path, *words)
    for name in ("pointer", "utf16"):
        qrels = bench.bytes(f"{name}.tsv", inputs[name][0])
        run = bench.text("run.trec", "q Q0 d 1 1 x\n")
        bench.refused(bench.tandem("evaluate", "--qrels", qrels, "--run", run), 3, qrels,
                      *inputs[name][1:])
        folder = bench.beir(f"beir_{name}", {"d": "x"}, {"q": "q"}, {"test": [("q", "d", 1)]})
        corpus = bench.bytes(f"beir_{name}/corpus.jsonl", inputs[name][0])
        bench.refused(bench.tandem("inspect", folder), 3, corpus, *inputs[name][1:])
    packed = bench.bytes("page.jsonl.gz", b"<html>Sign in</html>")
    bench.refused(bench.tandem("inspect", packed), 3, "not a gzip file", "HTML page")


@case("what does no harm in lines", peer="Python's json")
def what_does_no_harm(bench):
    """A byte order mark, gzip under another name, and numbers beyond 64 bits in members that nobody
    reads change nothing: Python reads such numbers, too."""
    plain = bench.tandem("inspect", bench.lines("a.jsonl", GOOD), "--format", "json").json()
    long = 123456789012345678901234567890
    line = json.dumps({**GOOD, "id": long, "meta": {"x": [-long, 1]}})
    bench.equal(bench.peer("result = json.loads(line)['id'] == int(wanted)",
                           line=line, wanted=str(long)), True, "Python's reading")
    inputs = {
        "mark.jsonl": b"\xef\xbb\xbf" + (json.dumps(GOOD) + "\n").encode(),
        "gzip.jsonl": gzip.compress((json.dumps(GOOD) + "\n").encode()),
        "long.jsonl": line.encode() + b"\n",
        "huge.jsonl": (json.dumps(GOOD)[:-1] + ', "meta": {"x": 1e999}}\n').encode(),
    }
    for name, content in inputs.items():
        found = bench.works(bench.tandem("inspect", bench.bytes(name, content), "--format", "json"))
        for key in ("lines", "queries", "documents", "positives", "negatives"):
            bench.equal(found.json()[key], plain[key], f"{key} of {name}")


@case("a folder where a file is meant")
def a_folder_of_lines(bench):
    "The message names the folder's files."
    bench.lines("folder/train.jsonl", GOOD)
    bench.lines("folder/dev.jsonl", GOOD)
    folder = str(bench.work / "folder")
    bench.refused(bench.tandem("convert", folder, "--to", "tevatron", "--output",
                               bench.work / "out.jsonl"), 3, folder,
                  "give one of its files: dev.jsonl, train.jsonl")


@case("headers of judgements")
def headers_of_judgements(bench):
    """Columns go by the header's names, in any order, with tabs, commas or blanks between them; names
    that are not known are refused."""
    run = bench.text("run.trec", "q1 Q0 d1 1 2 x\nq1 Q0 d2 2 1 x\n")

    def measured(name, text):
        return bench.tandem("evaluate", "--qrels", bench.text(name, text), "--run", run,
                            "--measures", "mrr@10", "--format", "json")

    right = {
        "beir": "query-id\tcorpus-id\tscore\nq1\td2\t1\n",
        "no_header": "q1\td2\t1\n",
        "trec": "q1 0 d2 1\n",
        "underscores": "query_id\tdoc_id\trelevance\nq1\td2\t1\n",
        "short": "qid\tdocid\trel\nq1\td2\t1\n",
        "capitals": "Query-ID\tCorpus-ID\tScore\nq1\td2\t1\n",
        "order": "corpus-id\tquery-id\tscore\nd2\tq1\t1\n",
        "grade_first": "label\tqid\tpid\n1\tq1\td2\n",
        "commas": "query-id,corpus-id,score\nq1,d2,1\n",
        "quoted": '"query-id","corpus-id","score"\n"q1","d2",1\n',
        "blanks": "query-id corpus-id score\nq1 d2 1\n",
        "trec_header": "qid iter docno rel\nq1 0 d2 1\n",
        "four": "query-id\tcorpus-id\tscore\tsplit\nq1\td2\t1\ttest\n",
    }
    for name, text in right.items():
        ended = bench.works(measured(f"{name}.tsv", text))
        bench.equal("0.5" in ended.stdout, True, f"mrr@10 of {name}: {ended.stdout}")
    bench.refused(measured("other.tsv", "frage\tantwort\tnote\nq1\td2\t1\n"), 3, "other.tsv:1:",
                  '"frage", "antwort", "note"', "expected BEIR's columns")
    bench.refused(measured("bare.tsv", "q1,d2,1\n"), 3, "bare.tsv:1:", "commas and no header")
    bench.refused(measured("two.tsv", "query-id\tquery\tdoc\trel\nq1\tx\td2\t1\n"), 3,
                  "two columns of queries")
