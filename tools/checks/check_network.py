#!/usr/bin/env python3
"""`tandem train` over slow and long lines, and over one that is cut.

    python3 tools/checks/check_network.py --program build/release/tandem --model FOLDER --data FOLDER
        [--rates unlimited,1gbit] [--delay-ms 10] [--steps 8] [--batch 32] [--keep FOLDER]

Two processes train in two network namespaces, which are joined by veth with a limited rate (tc tbf)
or by a relay that delays every packet (tools/checks/tun_relay.py). Everywhere they must leave the same
bytes as over an unlimited line; a line that is cut in the middle must end both within --timeout
with exit 7. Prints the time of a step over each line. Needs root and iproute2; ends what it has
made.
"""

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time

from launched_runs import (Runs, rank_environment, require, require_same,
                           runs_of_check)

TIMEOUT = 20
PEER_LOST = 7
NAMES = [f"tandem-check-{os.getpid()}-{end}" for end in "ab"]
PORT = 29500  # the namespaces are the check's own


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


@contextlib.contextmanager
def namespaces():
    try:
        for name in NAMES:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        yield
    finally:
        for name in NAMES:
            subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def cable(rate):
    """veth, of a rate such as 1gbit in each direction. The device's name in both namespaces."""
    ip("link", "add", "line", "netns", NAMES[0], "type", "veth", "peer", "name", "line", "netns",
       NAMES[1])
    for number, name in enumerate(NAMES):
        ip("-n", name, "address", "add", f"10.213.0.{number + 1}/24", "dev", "line")
        ip("-n", name, "link", "set", "line", "up")
        if rate != "unlimited":
            subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", "line", "root", "tbf", "rate",
                            rate, "burst", "512kb", "latency", "100ms"], check=True)
    try:
        yield "line"
    finally:
        ip("-n", NAMES[0], "link", "delete", "line")


@contextlib.contextmanager
def relay(delay_ms):
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tun_relay.py")
    ends = [word for number, name in enumerate(NAMES) for word in
            (name, f"10.213.0.{number + 1}/24")]
    process = subprocess.Popen([sys.executable, program, *ends, "--delay-ms", str(delay_ms)],
                               stdout=subprocess.PIPE, text=True)
    try:
        require(process.stdout.readline() == "ready\n", "the relay does not start")
        yield "relay"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def start(runs, name, *further):
    job = runs.job(name)
    for rank, namespace in enumerate(NAMES):
        # Apart from each other: on two machines each has the processors of one.
        variables = rank_environment(rank, 2, PORT, "10.213.0.1")
        job.start(runs.command(name, *further), variables, ["ip", "netns", "exec", namespace])
    return job


def bytes_sent(device):
    statistics_of = ["ip", "netns", "exec", NAMES[0], "cat",
                     f"/sys/class/net/{device}/statistics/tx_bytes"]
    return int(subprocess.run(statistics_of, check=True, stdout=subprocess.PIPE).stdout)


def step_seconds(output):
    """The median of the steps but the first two, which lay out memory."""
    with open(os.path.join(output, "timing.jsonl"), encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["event"] == "step"]
    return statistics.median(row["seconds"] for row in rows[2:])


def train(runs, name, device):
    before = bytes_sent(device)
    job = start(runs, name)
    job.wait_for_success()
    reference = runs.path("reference")
    if not os.path.exists(reference):
        os.symlink(runs.path(name), reference)
    require_same(runs.path(name), reference)
    sent = (bytes_sent(device) - before) / runs.steps
    print(f"{name:20}  {step_seconds(runs.path(name)) * 1000:8.0f} ms a step  "
          f"{sent / 1e6:6.1f} MB sent a step, same bytes", flush=True)


def cut(runs, name, device):
    job = start(runs, name, "--timeout", str(TIMEOUT), "--set", "train.steps=100000")
    job.wait_for_step(3)
    begin = time.monotonic()
    ip("-n", NAMES[0], "link", "set", device, "down")
    codes = job.wait(limit=TIMEOUT + 10)
    seconds = time.monotonic() - begin
    require(codes == [PEER_LOST] * 2 and seconds <= TIMEOUT,
            f"{name}: exit {codes} after {seconds:.1f} s:\n{job.said(0)}\n{job.said(1)}")
    for rank in (0, 1):
        require(f"rank {1 - rank}" in job.said(rank), f"{name}: {job.said(rank)}")
    print(f"{name:20}  both exit 7 after {seconds:.1f} s", flush=True)
    for rank in (0, 1):
        print(f"    {job.said(rank).splitlines()[-1]}", flush=True)


def settings_of(arguments):
    return {"seed": 3, "threads": 1, "precision": '"fp32"',
            "model.base": f'"{os.path.abspath(arguments.model)}"',
            "model.max_query_tokens": 32, "model.max_document_tokens": 64,
            "data.train": f'"{os.path.abspath(arguments.data)}"', "data.positive_grade": 2,
            "objective.name": '"infonce"', "optimizer.learning_rate": 5e-5,
            "train.batch": arguments.batch, "train.steps": arguments.steps,
            "train.checkpoint_every": "0", "logging.every": 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, help="BEIR folder with a split train")
    parser.add_argument("--rates", default="unlimited,10gbit,1gbit,100mbit")
    parser.add_argument("--delay-ms", type=float, default=10)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--keep", help="folder for the runs (default: a temporary one)")
    arguments = parser.parse_args()
    with runs_of_check(arguments, "check_network", lambda folder: Runs(
            arguments.program, folder, settings_of(arguments))) as runs:
        runs.steps = arguments.steps
        with namespaces():
            for rate in arguments.rates.split(","):
                with cable(rate) as device:
                    train(runs, rate, device)
            for delay in (0, arguments.delay_ms):
                with relay(delay) as device:
                    train(runs, f"relay, {delay:g} ms", device)
            with cable("unlimited") as device:
                cut(runs, "cut", device)
            with relay(arguments.delay_ms) as device:
                cut(runs, f"cut, {arguments.delay_ms:g} ms", device)


if __name__ == "__main__":
    main()
