#!/usr/bin/env python3
"""What a step of several processes takes: the model of docs/scale.md, whose tables this prints.

    python3 tools/studies/scale_model.py

Bytes and rounds follow from src/train/step/shared_step.cc and src/dist. LINES, COMPUTE and DELAYS_OF_A_HOP
were measured by tools/checks/check_network.py; what docs/scale.md calls assumed was not measured. Needs only
the standard library.
"""

import dataclasses

MB, GB = 1e6, 1e9
GBIT = 1e9 / 8   # bytes a second
BUCKET = 4 << 20  # bytes, dist/gradient_reducer.h
AT_ONCE = 2      # operations that Gloo works on at the same time, its threads


@dataclasses.dataclass
class Encoder:
    name: str
    dense: float        # trained parameters outside tables of embeddings
    width: int          # E, the embedding's and the tables'
    forward: float      # share of a step's computing that is no backward pass


@dataclasses.dataclass
class Job:
    processes: int      # n
    per_host: int
    texts: int          # N: queries and documents of a batch
    queries: int        # Q
    rows: int           # V: rows of the vocabulary's table that some text of the batch has
    own_rows: int       # of the process that has most
    rate: float         # bytes a second of a host's line, in each direction
    stream: float       # bytes a second of one connection at most
    hop: float          # seconds from one process to the next, with nothing to carry
    compute: float      # seconds of a step of each process without any exchange


MINILM = Encoder("all-MiniLM-L6-v2", 10.84e6, 384, 1 / 3)
BASE = Encoder("BERT-base", 86.0e6, 768, 1 / 3)


def all_gather(job, block):
    """A ring: n - 1 times to the next one. Of a host's processes one sends to another host."""
    n = job.processes
    return (n - 1) * (job.hop + block / min(job.rate, job.stream)), (n - 1) * block


def all_to_all(job, matrix):
    """Everybody to everybody: a host's processes share its line."""
    n = job.processes
    away = job.per_host * matrix * (n - job.per_host) / n if n > job.per_host else matrix / n
    return job.hop + max(away / job.rate, matrix / n * (n - 1) / job.stream), matrix * (n - 1) / n


def all_reduce(job, size):
    """A ring, there and back."""
    n = job.processes
    return (2 * (n - 1) * (job.hop + size / n / min(job.rate, job.stream)),
            2 * (n - 1) / n * size)


def exchanges(encoder, job):
    """(name, seconds, bytes that a process sends) of a step's exchanges, in their order."""
    n, width = job.processes, encoder.width
    matrix = 4 * job.texts * width
    dense = 4 * encoder.dense
    buckets = max(1, round(dense / BUCKET))
    seconds, sent = all_reduce(job, dense)
    # All buckets take the bytes' time; of the hops' time, those of two at once.
    hops = 2 * (n - 1) * job.hop
    reduce = (seconds - hops) + hops * -(-buckets // AT_ONCE), sent
    return [("stop agreed", *all_gather(job, 8)),
            ("embeddings", *all_gather(job, matrix / n)),
            ("losses, cosines", *all_gather(job, 8 * (6 + 2 * job.queries / n))),
            ("gradient of embeddings", *all_to_all(job, matrix)),
            ("dense gradients", *reduce),
            ("rows: how many", *all_gather(job, 8)),
            ("rows: which", *all_gather(job, 8 * job.own_rows)),
            ("rows: values", *all_reduce(job, 4 * width * job.rows))]


def step_seconds(encoder, job):
    """Dense gradients travel while the backward pass goes on, which is the rest of the computing; of
    these at least the last bucket is waited for, which is ready when that pass ends. So are all other
    exchanges."""
    hidden = job.compute * (1 - encoder.forward)
    last = all_reduce(job, min(BUCKET, 4 * encoder.dense))[0]
    total = job.compute
    for name, seconds, _ in exchanges(encoder, job):
        total += max(last, seconds - hidden) if name == "dense gradients" else seconds
    return total


def sent(encoder, job):
    return sum(size for _, _, size in exchanges(encoder, job))


# --- what was measured ---------------------------------------------------------------------------

# Two processes, one thread each, batch 32, all-MiniLM-L6-v2. Seconds of a step over a line of 10 Gbit/s,
# which the model takes for the computing: what these exchanges take is less than the noise.
COMPUTE = 0.433
# Seconds of a hop for each second of delay: the receiver says first that it is ready.
DELAYS_OF_A_HOP = 2
# Rows of the vocabulary: what the bytes that were sent leave beside the dense gradients.
ROWS, OWN_ROWS = 700, 500
# name, bytes a second, delay in one direction, measured seconds of a step
LINES = [("unlimited", 10 * GBIT, 0, 0.421), ("10 Gbit/s", 10 * GBIT, 0, 0.433),
         ("1 Gbit/s", GBIT, 0, 0.538), ("100 Mbit/s", GBIT / 10, 0, 3.948),
         ("relay without delay", 10 * GBIT, 0, 0.468), ("relay, 10 ms", 10 * GBIT, 0.010, 0.692)]
# Assumed, not measured: a hop between hosts of one network, and what one connection carries at most.
HOP, STREAM = 50e-6, 2.5 * GB


def here(rate, delay):
    return Job(2, 1, 64, 32, ROWS, OWN_ROWS, rate, STREAM, DELAYS_OF_A_HOP * delay, COMPUTE)


def print_table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def number(seconds):
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def predict():
    """Batch 65,536: a query of 16 tokens and a document of 128 each."""
    queries = 65536
    tokens = queries * (16 + 128)
    rows = 30000  # a batch of this size has nearly all of the vocabulary
    cases = [("64 CPU hosts, MiniLM", MINILM, 64, 1, 18.6e3 / 2 * 32),
             ("8 x 8 GPUs, MiniLM", MINILM, 64, 8, 2e6),
             ("8 x 8 GPUs, BERT-base", BASE, 64, 8, 300e3)]
    table = []
    for name, encoder, processes, per_host, speed in cases:
        compute = tokens / processes / speed
        for gbit in (10, 100):
            job = Job(processes, per_host, 2 * queries, queries, rows, 20000, gbit * GBIT,
                      STREAM, HOP, compute)
            total = step_seconds(encoder, job)
            parts = {part: seconds for part, seconds, _ in exchanges(encoder, job)}
            table.append([name, f"{gbit} Gbit/s", number(compute), number(parts["embeddings"]),
                          number(parts["gradient of embeddings"]), number(parts["dense gradients"]),
                          number(sum(parts[part] for part in parts if part.startswith("rows"))),
                          number(total), f"{compute / total * 100:.0f} %"])
    print_table(["", "line of a host", "computing", "embeddings", "their gradient",
                 "dense gradients", "rows", "step", "computing's share"], table)


def main():
    job = here(GBIT, 0)
    print_table(["exchange", "bytes that a process sends"],
                [[name, f"{size / MB:.3f} MB"] for name, _, size in exchanges(MINILM, job)])
    print_table(["line", "measured", "model"],
                [[name, f"{measured * 1000:.0f} ms", f"{step_seconds(MINILM, here(rate, delay)) * 1000:.0f} ms"]
                 for name, rate, delay, measured in LINES])
    predict()


if __name__ == "__main__":
    main()
