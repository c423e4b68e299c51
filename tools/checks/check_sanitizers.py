#!/usr/bin/env python3
"""Runs the program of a build with sanitizers: training first of all, then what is done with a model.

    check_sanitizers.py --build build/asan --sanitizers address,undefined --model MODEL [WORD]...

First the build's sanitizer_probe commits one fault of each kind, which must be reported, and then the
program trains (fp32 and, where the processor multiplies it, bf16; with validation, checkpoints, the
gradient cache, a score bank, adapters, two encoders, dropped pairs and mining), resumes, and prunes,
mines, scores, encodes, evaluates, calibrates, builds indexes, searches them and serves one. Every command must
end with exit code 0 and say nothing of a sanitizer. Leaks are looked for when each command ends.

WORDs choose runs by their names. Exit code 1 where something was reported. Needs nothing but Python.

With ThreadSanitizer every run in fp32 uses the kernels for SSE4 (TANDEM_ISA=baseline): clang's looks at
accesses of up to 16 bytes and passes over wider ones, as those of AVX2 and AVX-512 are. Runs in bf16 need the
wider ones, so there it sees what happens around the kernels' inner loops.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

REPORT = re.compile(r"(ThreadSanitizer|AddressSanitizer|LeakSanitizer|MemorySanitizer|runtime error|==ABORTING"
                    r"|check_sanitizers)")

# What each fault of the probe must bring to light, by sanitizer; None: nothing.
FAULTS = {
    "thread": {"ordered": None, "race": "ThreadSanitizer: data race",
               "thread_race": "ThreadSanitizer: data race"},
    "address": {"ordered": None, "leak": "LeakSanitizer: detected memory leaks",
                "overrun": "AddressSanitizer: heap-buffer-overflow"},
    "undefined": {"overflow": "runtime error: signed integer overflow"},
}

WORDS = """river stone bread winter harbour engine violin garden planet copper letter forest market bridge
candle doctor island mirror pepper shadow ticket window author basket camera desert elephant feather guitar
hammer insect jacket kitchen lantern monkey needle orange pencil rabbit saddle temple umbrella village""".split()


def write_data(folder, documents, queries):
    """A BEIR folder: each query asks with three words of its document, and has one of grade 0 too."""
    draw = random.Random(7)
    (folder / "qrels").mkdir(parents=True)
    texts = [" ".join(draw.choice(WORDS) for _ in range(draw.randint(6, 30))) for _ in range(documents)]
    with open(folder / "corpus.jsonl", "w", encoding="utf-8") as file:
        for i, text in enumerate(texts):
            line = {"_id": f"d{i}", "title": f"number {i}", "text": text, "year": 1900 + i}
            file.write(json.dumps(line) + "\n")
    split_of = {}
    with open(folder / "queries.jsonl", "w", encoding="utf-8") as file:
        for i in range(queries):
            words = draw.sample(texts[i].split(), 3)
            file.write(json.dumps({"_id": f"q{i}", "text": " ".join(words)}) + "\n")
            split_of[i] = ("train", "train", "train", "dev", "test")[i % 5]
    for split in ("train", "dev", "test"):
        with open(folder / "qrels" / f"{split}.tsv", "w", encoding="utf-8") as file:
            file.write("query-id\tcorpus-id\tscore\n")
            for i, its in split_of.items():
                if its == split:
                    file.write(f"q{i}\td{i}\t1\nq{i}\td{draw.randrange(queries, documents)}\t0\n")


class Bench:
    """Runs commands of the program and keeps what the sanitizers said."""

    def __init__(self, arguments, work):
        self.program = str(pathlib.Path(arguments.build, "tandem").resolve())
        self.work = work
        self.words = arguments.words
        self.thread = arguments.thread
        self.environment = arguments.environment
        self.failures = []

    def run(self, name, command, isa=None, while_it_runs=None):
        """`while_it_runs(process)` has a server's errors to read, and ends it; it returns what it has read."""
        if self.words and not any(word in name for word in self.words):
            return
        begin = time.monotonic()
        environment = dict(self.environment)
        if isa or self.thread:
            environment["TANDEM_ISA"] = isa or "baseline"
        command = [self.program, *map(str, command)]
        with subprocess.Popen(command, cwd=self.work, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as process:
            said = while_it_runs(process) if while_it_runs else ""
            said += process.communicate()[0]
        bad = process.returncode != 0 or REPORT.search(said)
        print(f"{'FAILED' if bad else 'held'}: {name}, {time.monotonic() - begin:.0f} s", flush=True)
        if bad:
            self.failures.append(name)
            print(f"  exit code {process.returncode} of {' '.join(command)}\n{said[-20000:]}", flush=True)


def see_faults(arguments):
    """Whether the sanitizers of the build report what they are for."""
    probe = str(pathlib.Path(arguments.build, "tests/sanitizers/sanitizer_probe").resolve())
    problems = []
    for sanitizer in arguments.sanitizers:
        for fault, report in FAULTS[sanitizer].items():
            done = subprocess.run([probe, fault], env=arguments.environment, capture_output=True, text=True,
                                  check=False)
            seen = done.stdout + done.stderr
            if report is None:
                good = done.returncode == 0 and not REPORT.search(seen)
            else:
                good = done.returncode != 0 and report in seen
            what = f"the fault `{fault}` is reported" if report else f"`{fault}`, which is no fault, is not reported"
            print(f"{'held' if good else 'FAILED'}: {what}", flush=True)
            if not good:
                problems.append(fault)
                print(seen[-5000:], flush=True)
    return problems


def train(bench, name, settings, output=None, resume=False, isa=None):
    settings = {"model.base": '"MODEL"', "data.train": '"data"', "train.batch": 8, "train.steps": 6,
                "train.checkpoint_every": '"3 steps"', "validation.data": '"data"', "validation.every": '"3 steps"',
                "precision": '"fp32"', "logging.every": 1, **settings}
    command = ["train", "recipe.toml", "--output", output or name, "--threads", 4]
    if resume:
        command.append("--resume")
    for key, value in settings.items():
        if value is not None:
            command += ["--set", f"{key}={value}".replace("MODEL", str(bench.model))]
    bench.run(f"train {name}", command, isa)


def train_all(bench, bf16):
    infonce = {"objective.name": '"infonce"'}
    longer = {**infonce, "schedule.name": '"constant"'}
    train(bench, "infonce", longer)
    train(bench, "infonce, resumed", {**longer, "train.steps": 10}, output="infonce", resume=True)
    train(bench, "mann_whitney with a bank", {"objective.name": '"mann_whitney"', "objective.bank": 64})
    train(bench, "gradient cache", {**infonce, "train.chunk_tokens": 128, "train.accumulate": 2,
                                    "train.steps": 3})
    train(bench, "mining", {**infonce, "mining.every": '"2 steps"', "mining.range": '"2:30"', "data.negatives": 2,
                            "train.steps": 4})
    train(bench, "adapters of two encoders", {**infonce, "model.train": '"lora"', "lora.rank": 4, "lora.dropout": 0.1,
                                              "model.towers": '"separate"', "train.steps": 3})
    train(bench, "frozen, projection", {**infonce, "model.freeze": '["embeddings", "layers.0-3"]',
                                        "model.projection": 64, "model.dimensions": "[64, 32]", "train.steps": 3})
    train(bench, "dynamic pruning, adafactor", {**infonce, "sampling.name": '"dynamic_pruning"',
                                                "optimizer.name": '"adafactor"', "train.steps": 4})
    if bf16:
        train(bench, "bf16", {**infonce, "precision": '"bf16"'}, isa=bf16)
        train(bench, "bf16, gradient cache", {**infonce, "precision": '"bf16"', "train.chunk_tokens": 128,
                                              "train.steps": 3}, isa=bf16)
        train(bench, "fp32 at the best instructions", infonce, isa=bf16)


def ask_server(process):
    """Several clients ask a server at once, and then it is told to end."""
    said, port = "", None
    for line in process.stdout:
        said += line
        if " at http://" in line:
            port = int(line.rsplit(":", 1)[1])
            break
    if port is None:
        return said

    def ask(number):
        for i in range(5):
            body = json.dumps({"query": f"{WORDS[number]} {WORDS[i]}", "k": 3})
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
            connection.request("POST", "/search", body, {"Content-Type": "application/json"})
            answers.append(connection.getresponse().status)

    answers = []
    clients = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for client in clients:
        client.start()
    process.send_signal(signal.SIGHUP)  # the model and the index are swapped while it answers
    for client in clients:
        client.join()
    process.send_signal(signal.SIGTERM)
    if answers != [200] * 20:
        said += f"check_sanitizers.py: answers of the server: {answers}\n"
    return said


def use_all(bench):
    model = bench.model
    bench.run("prune", ["prune", "data", "--model", model, "--keep", "0.5", "--output", "pruned", "--threads", 4])
    bench.run("mine", ["mine", "--model", model, "--dataset", "data", "--range", "2:30", "--output", "mined.jsonl",
                       "--threads", 4])
    bench.run("score", ["score", "--model", model, "--pairs", "data", "--as", "teacher", "--to",
                        "sentence_transformers", "--output", "scored.jsonl", "--threads", 4])
    bench.run("encode", ["encode", model, "data", "--output", "embedded.npy", "--threads", 4])
    bench.run("evaluate", ["evaluate", "--model", model, "--model", "infonce/model", "--dataset", "data",
                           "--threads", 4])
    bench.run("evaluate with views", ["evaluate", "--model", model, "--dataset", "data", "--views", "--threads", 4])
    bench.run("calibrate", ["calibrate", "infonce/model", "--dataset", "data", "--method", "platt", "--threads", 4])
    bench.run("report", ["report", "infonce"])
    for kind in ("fp32", "bf16", "int8", "hnsw", "ivf_flat", "ivf_pq"):
        index = f"index-{kind}"
        bench.run(f"index build {kind}", ["index", "build", model, "data", "--kind", kind, "--field", "year:number",
                                          "--output", index, "--threads", 4])
        bench.run(f"search {kind}", ["search", index, "winter harbour violin", "copper letter", "--highlight",
                                     "--filter", "year >= 1910", "--threads", 4])
    bench.run("serve", ["serve", "index-fp32", "--port", 0, "--threads", 4], while_it_runs=ask_server)
    bench.run("index remove", ["index", "remove", "index-fp32", "--id", "d3"])
    bench.run("index compact", ["index", "compact", "index-fp32"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True, help="build folder with the program and sanitizer_probe")
    parser.add_argument("--sanitizers", required=True, help="thread, or address,undefined")
    parser.add_argument("--model", required=True)
    parser.add_argument("--keep", help="a new folder for the runs, which stays")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    arguments.sanitizers = arguments.sanitizers.split(",")
    arguments.thread = "thread" in arguments.sanitizers
    arguments.environment = dict(os.environ)
    problems = see_faults(arguments)

    work = pathlib.Path(arguments.keep or tempfile.mkdtemp(prefix="sanitizers.")).resolve()
    work.mkdir(parents=True, exist_ok=True)
    write_data(work / "data", documents=200, queries=100)
    (work / "recipe.toml").write_text("", encoding="utf-8")
    arguments.environment["TANDEM_CACHE"] = str(work / "cache")
    bench = Bench(arguments, work)
    bench.model = pathlib.Path(arguments.model).resolve()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = file.read().split()
    bf16 = "amx" if "amx_bf16" in flags else "avx512_bf16" if "avx512_bf16" in flags else None
    train_all(bench, bf16)
    use_all(bench)
    if not bf16:
        print("not seen: bf16, which this processor does not multiply")
    problems += bench.failures
    if not arguments.keep:
        shutil.rmtree(work)
    if problems:
        sys.exit(f"check_sanitizers.py: FAILED: {', '.join(problems)}")


if __name__ == "__main__":
    main()
