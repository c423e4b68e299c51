#!/usr/bin/env python3
"""Training and encoding speed of the shapes that people fine-tune, beside the limit and the peers.

    python3 bench/encoders.py --build build/release --tokenizer FOLDER --data FOLDER
        --peer-python PYTHON [--work FOLDER] [--shapes NAME,NAME] [--tokens 256,512]
        [--update docs/performance.md]

Shapes and their made-up weights are those of made_models.py; they are written into --work once. Texts
are pairs of --data, a BEIR folder with split train: paragraphs cut at 256 tokens, paragraphs joined to
512, and for the shapes that take so much, joined to 8,192. All shapes read the same token ids.

A cell is one shape, job, precision and length. Each is measured in processes of its own, one after
another: the limit, Tandem, and up to 256 tokens sentence-transformers and for encoding OpenVINO,
which knows encoders only, and llama.cpp, which gets Qwen3. A cell whose result is in --work already is
not measured again, so that the command can be stopped at any time and goes on where it was; --again
measures anew. --report measures nothing.

Share = (FLOPs of the matrix products for a token x tokens/s [+ attention's own, at 8,192 tokens]) /
rate of such products, measured beside each cell. Shapes of half a billion parameters and more are
measured in bf16 only, and with 8 pairs a step as the large one below it; the others have 64, but
t5-base 32, since sentence-transformers does not fit more into 24 GiB. Of llama-3.2-1b adapters are
trained (LoRA, rank 32): all of its weights would take more than 24 GiB.
"""

import argparse
import json
import os
import sys

import made_models
import speed

LARGE = {"bge-large", "llama-3.2-1b", "qwen3-0.6b"}
BF16_ONLY = {"llama-3.2-1b", "qwen3-0.6b"}
DECODERS = {"llama-3.2-1b", "qwen3-0.6b"}
ADAPTED = {"llama-3.2-1b"}  # all of its weights with their moments do not fit 24 GiB
LLAMA_CPP = {"qwen3-0.6b"}
LONG = {"modernbert-base", "qwen3-0.6b"}
ORDER = ["bert-base", "bge-large", "xlm-roberta-base", "modernbert-base", "t5-base", "qwen3-0.6b",
         "llama-3.2-1b"]
# Paragraphs that are joined to a document, for each length.
JOINED = {256: 1, 512: 4, 8192: 64}


def cells(options):
    """(shape, job, precision, tokens), the cheap ones first."""
    for tokens in map(int, options.tokens.split(",")):
        for shape in options.shapes.split(","):
            for job in ("encoding", "training"):
                if tokens == 8192 and (shape not in LONG or job == "training"):
                    continue
                for precision in ("bf16",) if shape in BF16_ONLY else ("fp32", "bf16"):
                    if precision in options.precisions.split(","):
                        yield shape, job, precision, tokens


def batch_of(shape):
    if shape in LARGE:
        return 8
    return 32 if shape == "t5-base" else 64


def pairs_of(shape, job, tokens):
    """How many pairs a job reads."""
    if job == "training":
        return 3 * batch_of(shape)
    if tokens == 8192:
        return 2
    return (16 if shape in LARGE else 64) * 256 // tokens


class Cells:
    def __init__(self, options):
        self.options = options
        self.program = os.path.join(options.build, "bench", "encoder_bench")
        self.ours = dict(os.environ)
        self.theirs = dict(os.environ, TOKENIZERS_PARALLELISM="true")
        if options.isa:
            self.ours["TANDEM_ISA"] = options.isa
            torch, onednn = speed.PEER_ISA[options.isa]
            self.theirs.update(ATEN_CPU_CAPABILITY=torch, ONEDNN_MAX_CPU_ISA=onednn,
                               DNNL_MAX_CPU_ISA=onednn, MKL_ENABLE_INSTRUCTIONS=torch.upper())
        self.pairs = speed.read_pairs(options.data, 64 * 3 * 64)

    def model(self, shape):
        folder = os.path.join(self.options.work, shape)
        if not os.path.exists(folder):
            speed.note(f"making {folder}")
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "made_models.py")
            dtype = "bfloat16" if shape in BF16_ONLY else "float32"
            speed.run_plain([self.options.peer_python, script, shape, folder, "--tokenizer",
                             self.options.tokenizer, "--dtype", dtype], self.theirs)
        return folder

    def texts(self, shape, job, tokens):
        count, joined = pairs_of(shape, job, tokens), JOINED[tokens]
        path = os.path.join(self.options.work, f"pairs-{tokens}-{count}.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            for i in range(count):
                part = self.pairs[i * joined:(i + 1) * joined]
                document = " ".join(text for _, text in part)
                file.write(json.dumps({"query": part[0][0], "document": document}) + "\n")
        return path

    def measure(self, shape, job, precision, tokens):
        options = self.options
        model = self.model(shape)
        common = [model, "--precision", precision, "--threads", str(options.threads)]
        arguments = [job, model, self.texts(shape, job, tokens), "--precision", precision,
                     "--max-tokens", str(tokens), "--threads", str(options.threads)]
        if job == "training":
            arguments += ["--batch", str(batch_of(shape)), "--steps", "2",
                          "--seconds", str(options.seconds)]
            if shape in ADAPTED:
                arguments += ["--lora", "32"]
        found = {"limit": speed.run([self.program, "products", *common], self.ours),
                 "tandem": speed.run([self.program, *arguments], self.ours)}
        peers = ["sentence_transformers"]
        if job == "encoding":
            peers += ["llama_cpp"] if shape in LLAMA_CPP else []
            peers += ["openvino"] if shape not in DECODERS else []
        for peer in peers if options.peer_python and not options.alone and tokens == 256 else []:
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"peer_{peer}.py")
            found[peer] = speed.run([options.peer_python, script, *arguments], self.theirs)
        return found


def share_of(found, tokens):
    ours = found["tandem"]
    flops = ours["flops_per_token"] * ours["tokens"]
    if tokens == 8192:
        flops += ours["attention_flops"]
    return flops / ours["seconds"] / found["limit"]["flops_per_second"]


def against(found, peer):
    there = found.get(peer)
    if not there:
        return "-"
    return f"{speed.thousands(speed.rate(there))}, {speed.rate(found['tandem']) / speed.rate(there):.2f}x"


def report(measured):
    first = next(iter(measured.values()))
    text = (f"{speed.machine(first['tandem']['isa'])}, {first['tandem']['threads']} threads, "
            f"{first['limit']['library']}.\n\n")
    rows = []
    for key, found in measured.items():
        shape, job, precision, tokens = key.split("/")
        ours = found["tandem"]
        peer = found.get("sentence_transformers")
        rows.append([shape, job, precision, tokens, speed.thousands(speed.rate(ours)),
                     f"{100 * share_of(found, int(tokens)):.1f} %",
                     f"{ours['peak_bytes'] / 1e9:.2f} GB", against(found, "sentence_transformers"),
                     f"{peer['peak_bytes'] / 1e9:.2f} GB" if peer else "-",
                     against(found, "openvino"), against(found, "llama_cpp")])
    rows.sort(key=lambda row: (row[1], int(row[3]), ORDER.index(row[0]), row[2] != "fp32"))
    header = ["shape", "job", "precision", "texts up to", "tokens/s", "share", "peak memory",
              "sentence-transformers", "its memory", "OpenVINO", "llama.cpp"]
    return text + speed.table(header, rows), first["tandem"]["isa"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--tokenizer", required=True, help="model folder whose tokenizer all shapes get")
    parser.add_argument("--data", required=True, help="BEIR folder with split train")
    parser.add_argument("--peer-python", help="a Python with sentence-transformers, peft, openvino and"
                        " llama-cpp-python; it makes the model folders, too")
    parser.add_argument("--alone", action="store_true", help="measure no peers")
    parser.add_argument("--work", help="folder of models, texts and results (default: BUILD/bench)")
    parser.add_argument("--shapes", default=",".join(ORDER))
    parser.add_argument("--precisions", default="fp32,bf16")
    parser.add_argument("--tokens", default=",".join(map(str, JOINED)), help="256,512,8192 (default) or some of them")
    parser.add_argument("--isa", choices=sorted(speed.PEER_ISA))
    parser.add_argument("--threads", type=int, default=0, help="0 (default): all")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    parser.add_argument("--update", help="Markdown file to write the table into")
    options = parser.parse_args()
    options.work = options.work or os.path.join(options.build, "bench")
    unknown = set(options.shapes.split(",")) - set(ORDER)
    if unknown:
        parser.error(f"unknown shapes: {', '.join(sorted(unknown))}")
    unknown = set(options.tokens.split(",")) - set(map(str, JOINED))
    if unknown:
        parser.error(f"unknown lengths: {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse()
    os.makedirs(options.work, exist_ok=True)
    path = os.path.join(options.work, f"encoders-{options.isa or 'best'}.json")
    measured = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            measured = json.load(file)
    if not options.report:
        bench = Cells(options)
        for cell in cells(options):
            key = "/".join(map(str, cell))
            if key in measured and not options.again:
                continue
            speed.note(key)
            measured[key] = bench.measure(*cell)
            with open(path + ".partial", "w", encoding="utf-8") as file:
                json.dump(measured, file, indent=1)
            os.replace(path + ".partial", path)
    if not measured:
        sys.exit("encoders.py: nothing was measured")
    text, isa = report(measured)
    print(text, end="")
    if options.update:
        speed.update(options.update, text, isa, "encoders")


if __name__ == "__main__":
    main()
