#!/usr/bin/env python3
"""Training, encoding and tokenising speed, beside the machine's limit and beside the peers.

    python3 bench/speed.py --build build/release --model FOLDER --demo FOLDER [--data FOLDER]
        [--peer-python PYTHON] [--update docs/performance-details.md]

Three sets of texts, each written once and read by everybody:

- real: pairs of --data, a BEIR folder with split train (SQuAD v1.1 in docs/performance.md: questions
  of about 12 tokens, paragraphs of 5 to 256),
- short: pairs of --demo, the demo's data,
- long: pairs of --data whose documents are joined to 512 tokens.

Every measurement runs in a process of its own, one after another, with the same number of threads.
encoder_bench measures Tandem. With --peer-python, a Python that has sentence-transformers and
openvino, peer_*.py measure the peers. Peak memory is each process's own. Ratios above 1 say how
many times faster Tandem is, or how many times more memory the peer takes.

Share = FLOPs of the encoder's matrix products for a token x tokens/s / rate of such products. The rate
is measured in the same run, at the encoder's shapes and precision. All time counts, but no FLOPs other
than those of matrix products.

--isa LEVEL forces an instruction set (TANDEM_ISA) and asks the peers' libraries for the same.
Results are kept as JSON (--results), so that sets can be measured one by one; --report only prints
what is there. --update writes the tables into a Markdown file, between the lines
`<!-- speed LEVEL -->` and `<!-- end -->`.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys

# Text limit, pairs a step, pairs that are encoded.
SETS = {
    "real": {"max_tokens": 256, "batch": 64, "encode": 256},
    "short": {"max_tokens": 128, "batch": 64, "encode": 768},
    "long": {"max_tokens": 512, "batch": 64, "encode": 96},
}
PEER_ISA = {"avx2": ("avx2", "AVX2"), "avx512": ("avx512", "AVX512_CORE_VNNI"),
            "avx512_bf16": ("avx512", "AVX512_CORE_BF16"), "amx": ("avx512", "AVX512_CORE_AMX")}


def note(text):
    print(f"speed.py: {text}", file=sys.stderr, flush=True)


# --- Texts ---------------------------------------------------------------------------------------


def read_pairs(folder, count):
    """(query, document) of the split train, one for each query, shuffled."""
    def texts(name):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for record in map(json.loads, file):
                title = record.get("title", "")
                yield record["_id"], (title + " " if title else "") + record["text"]

    documents, queries = dict(texts("corpus.jsonl")), dict(texts("queries.jsonl"))
    pairs = {}
    with open(os.path.join(folder, "qrels", "train.tsv"), encoding="utf-8") as file:
        next(file)
        for line in file:
            query, document, grade = line.split()
            if int(grade) > 0 and grade > pairs.get(query, ("", "0"))[1]:
                pairs[query] = (document, grade)
    ids = sorted(pairs)
    random.Random(1).shuffle(ids)
    return [(queries[i], documents[pairs[i][0]]) for i in ids[:count]]


def write_texts(options, name, path):
    count = (options.steps + 1) * SETS[name]["batch"]
    if name == "short":
        pairs = read_pairs(options.demo, count)
    else:
        pairs = read_pairs(options.data, 4 * count)
        if name == "long":  # four paragraphs are always more than 512 tokens together, or nearly so
            pairs = [(pairs[i][0], " ".join(pairs[i + j][1] for j in range(4)))
                     for i in range(0, len(pairs), 4)]
        pairs = pairs[:count]
    with open(path, "w", encoding="utf-8") as file:
        for query, document in pairs:
            file.write(json.dumps({"query": query, "document": document}) + "\n")
    with open(path + ".encode", "w", encoding="utf-8") as file:
        for query, document in pairs[:SETS[name]["encode"]]:
            file.write(json.dumps({"query": query, "document": document}) + "\n")


# --- Measurements --------------------------------------------------------------------------------


def run_plain(command, environment):
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"speed.py: {' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def run(command, environment):
    return json.loads(run_plain(command, environment).strip().splitlines()[-1])


class Bench:
    def __init__(self, options):
        self.options = options
        self.program = os.path.join(options.build, "bench", "encoder_bench")
        self.ours = dict(os.environ)
        self.theirs = dict(os.environ, TOKENIZERS_PARALLELISM="true")
        if options.isa:
            self.ours["TANDEM_ISA"] = options.isa
            torch, onednn = PEER_ISA[options.isa]
            self.theirs.update(ATEN_CPU_CAPABILITY=torch, ONEDNN_MAX_CPU_ISA=onednn,
                               DNNL_MAX_CPU_ISA=onednn, MKL_ENABLE_INSTRUCTIONS=torch.upper())
        self.limits = {}

    def products(self, precision):
        return run([self.program, "products", self.options.model, "--precision", precision,
                    "--threads", str(self.options.threads)], self.ours)

    def arguments(self, name, what, precision):
        texts = self.texts(name)
        limits = SETS[name]
        arguments = [what, self.options.model, texts if what == "training" else texts + ".encode",
                     "--precision", precision, "--max-tokens", str(limits["max_tokens"]),
                     "--threads", str(self.options.threads)]
        if what == "training":
            arguments += ["--batch", str(limits["batch"]), "--steps", str(self.options.steps),
                          "--seconds", str(self.options.seconds)]
        return arguments

    def texts(self, name):
        path = os.path.join(self.options.build, "bench", f"{name}.jsonl")
        if name not in self.limits:
            write_texts(self.options, name, path)
            self.limits[name] = True
        return path

    def measure(self, name, what, precision):
        """Measures encoding several times in turn, for each tool and for the limit, and keeps the best
        of each: a turn takes seconds, in which other virtual machines can disturb it."""
        arguments = self.arguments(name, what, precision)
        peers = {"training": ["sentence_transformers"],
                 "encoding": ["sentence_transformers", "openvino"]}[what]
        result = {}
        for _ in range(self.options.turns if what == "encoding" else 1):
            turn = {"limit": self.products(precision),
                    "tandem": run([self.program, *arguments], self.ours)}
            for peer in peers if self.options.peer_python else []:
                script = os.path.join(os.path.dirname(__file__), f"peer_{peer}.py")
                turn[peer] = run([self.options.peer_python, script, *arguments], self.theirs)
            for who, found in turn.items():
                if who not in result or better(found, result[who]):
                    result[who] = found
        return result


def better(found, than):
    if "seconds" in found:
        return found["seconds"] < than["seconds"]
    return found["flops_per_second"] > than["flops_per_second"]


def measure_tokenizing(bench, data):
    """All texts of a BEIR folder, `tandem tokenize` against the package."""
    options = bench.options
    script = os.path.join(os.path.dirname(__file__), "tokenize_speed.py")
    done = subprocess.run(
        [options.peer_python, script, "--program", os.path.join(options.build, "tandem"), "--model",
         options.model, "--threads", str(bench.threads), "--share", "2", "--json", data],
        capture_output=True, text=True, env=bench.theirs, check=False)
    if done.returncode != 0:
        sys.exit(f"speed.py: tokenize_speed.py failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure_profile(bench, data, precision):
    """What `tandem train --profile-steps` and encoder_bench's profile print on the set `real`."""
    options = bench.options
    recipe = os.path.join(os.path.dirname(__file__), "profile.toml")
    command = [os.path.join(options.build, "tandem"), "train", recipe, "--profile-steps", "4",
               "--set", f"model.base={options.model}", "--set", f"data.train={data}",
               "--precision", precision, "--threads", str(options.threads), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, env=bench.ours, check=False)
    if done.returncode != 0:
        sys.exit(f"speed.py: {' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    encoding = [bench.program, *bench.arguments("real", "encoding", precision)]
    encoding[1] = "profile"
    encoded = subprocess.run(encoding, capture_output=True, text=True, env=bench.ours, check=False)
    if encoded.returncode != 0:
        sys.exit(f"speed.py: {' '.join(encoding)} ended with {encoded.returncode}:\n"
                 f"{encoded.stderr[-2000:]}")
    return "\n".join(["Training, a step of 64 pairs:\n", "```", done.stdout + "```\n",
                      "Encoding, all texts as one step:\n", "```", encoded.stdout + "```"])


# --- Report --------------------------------------------------------------------------------------


def rate(result):
    return result["tokens"] / result["seconds"]


def thousands(value):
    return f"{value / 1e3:.2f} k" if value < 1e4 else f"{value / 1e3:.1f} k"


def table(header, rows):
    """A Markdown table with padded columns, which reads well on a terminal too."""
    cells = [header] + rows
    widths = [max(len(row[c]) for row in cells) for c in range(len(header))]
    lines = [[cell.ljust(width) for cell, width in zip(row, widths)] for row in cells]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def machine(isa):
    model, flags, memory = "unknown processor", [], 0
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                model = value.strip()
            elif key.strip() == "flags":
                flags = value.split()
    with open("/proc/meminfo", encoding="utf-8") as file:
        memory = int(file.readline().split()[1]) / 2**20
    has = ", ".join(f"{name} {'yes' if flag in flags else 'no'}" for name, flag in
                    (("AVX2", "avx2"), ("AVX-512", "avx512f"), ("AVX512-BF16", "avx512_bf16"),
                     ("AMX-BF16", "amx_bf16")))
    return f"{model}, {memory:.0f} GiB; {has}; measured at {isa}"


def report(results):
    measured = results["measured"]
    first = next(iter(measured.values()))
    isa, threads = first["tandem"]["isa"], first["tandem"]["threads"]
    text = f"{machine(isa)}, {threads} threads, {first['limit']['library']}.\n\n"
    limits = []
    for precision in ("fp32", "bf16"):
        rates = [m["limit"]["flops_per_second"] for key, m in measured.items()
                 if key.endswith("/" + precision)]
        if rates:
            best = max(rates)
            training, encoding = 63.7e6, 21.2e6
            for key, m in measured.items():
                if "training" in key:
                    training = m["tandem"]["flops_per_token"]
                if "encoding" in key:
                    encoding = m["tandem"]["flops_per_token"]
            limits_of = [m["limit"] for key, m in measured.items() if key.endswith("/" + precision)]
            libraries = [limit.get("library_flops_per_second", limit["flops_per_second"])
                         for limit in limits_of]
            registers = max(limit.get("arithmetic_flops_per_second", 0) for limit in limits_of)
            limits.append([precision, f"{registers / 1e9:.0f} GFLOP/s" if registers else "-",
                           f"{min(rates) / 1e9:.0f} to {best / 1e9:.0f} GFLOP/s",
                           f"{min(libraries) / 1e9:.0f} to {max(libraries) / 1e9:.0f} GFLOP/s",
                           thousands(best / training), thousands(best / encoding)])
    text += table(["limit", "registers only", "matrix products at the encoder's shapes",
                   "oneDNN's alone",
                   "training, tokens/s", "encoding, tokens/s"], limits) + "\n"
    rows = []
    for key, m in measured.items():
        name, what, precision = key.split("/")
        ours = m["tandem"]
        share = rate(ours) * ours["flops_per_token"] / m["limit"]["flops_per_second"]
        row = [what, precision, name, thousands(rate(ours)), f"{100 * share:.1f} %",
               f"{ours['peak_bytes'] / 1e9:.2f} GB"]
        for peer in ("sentence_transformers", "openvino"):
            there = m.get(peer)
            row.append(f"{thousands(rate(there))}, {rate(ours) / rate(there):.2f}x" if there else "-")
        peer = m.get("sentence_transformers")
        row.append(f"{peer['peak_bytes'] / 1e9:.2f} GB, {peer['peak_bytes'] / ours['peak_bytes']:.1f}x"
                   if peer else "-")
        rows.append(row)
    text += table(["what", "precision", "texts", "tokens/s", "share", "peak memory",
                   "sentence-transformers", "OpenVINO", "its memory"], rows)
    for row in results.get("tokenizing", []):
        text += (f"\nTokenising, {row['threads']} threads, equal ids: {row['mb_per_s']:.0f} MB/s; "
                 f"`tokenizers` {row['package_mb_per_s']:.0f} MB/s, {row['ratio']:.1f}x.\n")
    for profile in results.get("profile", {}).values():
        text += f"\n{profile}\n"
    return text, isa


def update(path, text, isa, what="speed"):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    pattern = re.compile(rf"(<!-- {what} {isa} -->\n).*?(<!-- end -->)", re.S)
    if not pattern.search(page):
        sys.exit(f"speed.py: {path} has no line <!-- {what} {isa} -->")
    with open(path, "w", encoding="utf-8") as file:
        file.write(pattern.sub(lambda match: match[1] + text + match[2], page))


# -------------------------------------------------------------------------------------------------


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--demo", required=True, help="BEIR folder of the demo")
    parser.add_argument("--data", help="BEIR folder of real texts; without it, short texts only")
    parser.add_argument("--peer-python")
    parser.add_argument("--sets", default="real,short,long")
    parser.add_argument("--what", default="training,encoding,tokenizing,profile",
                        help="default: all of training,encoding,tokenizing,profile")
    parser.add_argument("--precisions", default="fp32,bf16")
    parser.add_argument("--isa", choices=sorted(PEER_ISA))
    parser.add_argument("--threads", type=int, default=0, help="0 (default): all")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20, help="of training, at least two steps")
    parser.add_argument("--turns", type=int, default=3, choices=range(1, 100), metavar="N",
                        help="of encoding, for each program (default 3)")
    parser.add_argument("--results", help="JSON that is added to")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    parser.add_argument("--update", help="Markdown file to write the tables into")
    return parser.parse_args()


def measure_all(options, results, save):
    bench = Bench(options)
    sets = [name for name in options.sets.split(",") if options.data or name == "short"]
    what = options.what.split(",")
    # Tandem says whether this machine can do bf16.
    probe = subprocess.run([bench.program, "products", options.model, "--precision", "bf16"],
                           capture_output=True, text=True, env=bench.ours, check=False)
    precisions = [p for p in options.precisions.split(",") if p == "fp32" or probe.returncode == 0]
    bench.threads = options.threads or os.cpu_count()
    for name in sets:
        for task in ("training", "encoding"):
            for precision in precisions if task in what else []:
                key = f"{name}/{task}/{precision}"
                note(key)
                results["measured"][key] = bench.measure(name, task, precision)
                save()
    for precision in precisions if "profile" in what and options.data else []:
        note(f"profile/{precision}")
        results.setdefault("profile", {})[precision] = measure_profile(bench, options.data, precision)
        save()
    if "tokenizing" in what and options.peer_python and options.data:
        note("tokenizing")
        results["tokenizing"] = measure_tokenizing(bench, os.path.dirname(options.data))
        save()


def main():
    options = parse()
    path = options.results or os.path.join(options.build, "bench",
                                           f"speed-{options.isa or 'best'}.json")
    results = {"measured": {}}
    if (options.results or options.report) and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            results = json.load(file)

    def save():
        with open(path, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)

    if not options.report:
        measure_all(options, results, save)
    if not results["measured"]:
        sys.exit("speed.py: nothing was measured")
    text, isa = report(results)
    print(text, end="")
    if options.update:
        update(options.update, text, isa)


if __name__ == "__main__":
    main()
