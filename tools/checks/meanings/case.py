"""The frame of the cases: what one is, and what it may do.

A case is a function that takes a Bench, writes its input, runs `tandem` on it and says what is right:

    @case("labels of a list", peer="sentence-transformers")
    def labels_of_a_list(bench):
        "A list of labels says which of the line's answers are positives."
        path = bench.lines("train.jsonl", {"query": "q", "answer": ["p", "n"], "labels": [1, 0]})
        bench.says(bench.tandem("inspect", path), "1 positive")
        bench.refused(bench.tandem("inspect", other), 3, f"{other}:1:", "expected")
"""
import json
import os
import pathlib
import subprocess

CASES = []


class Misread(Exception):
    """What was found is not what is right."""


class NotHere(Exception):
    """The case needs something that this machine lacks: a peer, a model."""


class Case:
    def __init__(self, title, peer, function):
        self.title = title
        self.peer = peer  # the program or package that decides what is right, or None: our choice
        self.function = function
        self.right = " ".join((function.__doc__ or "").split())


def case(title, peer=None):
    """Puts a function into the list of cases. Its docstring says what is right."""
    def add(function):
        CASES.append(Case(title, peer, function))
        return function
    return add


class Ended:
    """A run of `tandem` that has ended."""

    def __init__(self, arguments, code, stdout, stderr):
        self.arguments, self.code, self.stdout, self.stderr = arguments, code, stdout, stderr

    def json(self):
        return json.loads(self.stdout)

    def text(self):
        return f"tandem {' '.join(self.arguments)}\nexit {self.code}\n{self.stdout}{self.stderr}"


class Bench:
    """What a case works with: a folder of its own, the program, a model, the peer."""

    def __init__(self, program, work, model=None, peer_python=None):
        self.program = program
        self.work = pathlib.Path(work)
        self._model = model
        self._peer_python = peer_python
        self.peer_seen = False

    def bytes(self, name, content):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return str(path)

    def text(self, name, content):
        return self.bytes(name, content.encode())

    def lines(self, name, *objects):
        """A file of JSON lines."""
        return self.text(name, "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in objects))

    def beir(self, name, corpus, queries, qrels):
        """A BEIR folder: texts by id, and splits of (query, document, grade)."""
        texts = {"corpus": corpus, "queries": queries}
        for kind, of_kind in texts.items():
            self.lines(f"{name}/{kind}.jsonl", *({"_id": i, "text": t} for i, t in of_kind.items()))
        for split, rows in qrels.items():
            self.text(f"{name}/qrels/{split}.tsv", "query-id\tcorpus-id\tscore\n"
                      + "".join("\t".join(map(str, row)) + "\n" for row in rows))
        return str(self.work / name)

    def model(self):
        """A folder of all-MiniLM-L6-v2."""
        if self._model is None:
            raise NotHere("no --model")
        return self._model

    def tandem(self, *arguments, stdin=b"", environment=None):
        """Runs the program and waits for it. A case that cares looks at the exit code."""
        arguments = [str(a) for a in arguments]
        done = subprocess.run([self.program, *arguments], input=stdin, capture_output=True,
                              env=os.environ | (environment or {}), timeout=600)
        return Ended(arguments, done.returncode, done.stdout.decode(errors="replace"),
                     done.stderr.decode(errors="replace"))

    def peer(self, code, **given):
        """What `result` is after the peer's Python has run `code` with the variables `given`."""
        if self._peer_python is None:
            raise NotHere("no --peer-python")
        script = ("import json, sys\nglobals().update(json.load(sys.stdin))\n" + code
                  + "\nsys.stdout = sys.__stdout__\nprint('\\n' + json.dumps(result))")
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        done = subprocess.run([self._peer_python, "-c", script], input=json.dumps(given).encode(),
                              capture_output=True, env=environment, timeout=600)
        if done.returncode != 0:
            raise NotHere("the peer failed:\n" + done.stderr.decode(errors="replace")[-2000:])
        self.peer_seen = True
        return json.loads(done.stdout.decode().strip().splitlines()[-1])

    def equal(self, got, wanted, what):
        if got != wanted:
            raise Misread(f"{what}: {got!r}; right is {wanted!r}")

    def close(self, got, wanted, tolerance, what):
        if not abs(got - wanted) <= tolerance:
            raise Misread(f"{what}: {got!r}; right is {wanted!r}")

    def works(self, ended):
        if ended.code != 0:
            raise Misread("should work:\n" + ended.text())
        return ended

    def says(self, ended, *words):
        """The run works, and prints each of these, to stdout or stderr."""
        self._has(self.works(ended), words)

    def refused(self, ended, code, *words):
        """The run ends with this exit code, and its message has each of these."""
        if ended.code != code:
            raise Misread(f"exit code {ended.code}; right is {code}:\n" + ended.text())
        self._has(ended, words)

    def _has(self, ended, words):
        for word in words:
            if word not in ended.stdout + ended.stderr:
                raise Misread(f"does not say {word!r}:\n" + ended.text())
