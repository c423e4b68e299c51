"""Runs of `tandem train` by several processes, for tools/checks/check_launchers.py and check_network.py:
starts them by hand, waits for their steps, sends signals to ranks, compares run folders.

Needs only the standard library.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from run_contents import contents

# Launchers' variables. Those of whoever starts the check are not for the checked processes.
LAUNCHERS_PREFIXES = ("OMPI_", "PMIX_", "SLURM_", "TORCHELASTIC_", "MASTER_", "LOCAL_")
LAUNCHERS_NAMES = {"RANK", "WORLD_SIZE", "JOB_COMPLETION_INDEX", "GLOO_SOCKET_IFNAME"}
PATIENCE = 600  # seconds after which a process that should have ended fails the check


class Failed(Exception):
    """What does not hold."""


def require(condition, message):
    if not condition:
        raise Failed(message)


def free_port(further=1):
    """A port that nobody listens on, like the `further` ports after it."""
    for port in range(20000 + os.getpid() % 5000, 30000, 7):
        try:
            with contextlib.ExitStack() as sockets:
                for offset in range(further + 1):
                    listener = sockets.enter_context(socket.socket())
                    listener.bind(("", port + offset))
            return port
        except OSError:
            continue
    raise Failed("no free port")


def clean_environment():
    return {name: value for name, value in os.environ.items()
            if name not in LAUNCHERS_NAMES and not name.startswith(LAUNCHERS_PREFIXES)}


def rank_environment(rank, ranks, port, address="127.0.0.1"):
    """What a person sets by hand."""
    return {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank),
            "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": address, "MASTER_PORT": str(port)}


def processes_of(output):
    """{rank: process} of the processes that train in a run folder, whoever started them."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{name}/environ", "rb") as file:
                variables = dict(entry.split(b"=", 1) for entry in file.read().split(b"\0")
                                 if b"=" in entry)
        except OSError:
            continue  # it has ended
        if words[1:2] != [b"train"] or output.encode() not in words:
            continue
        for variable in (b"RANK", b"OMPI_COMM_WORLD_RANK", b"SLURM_PROCID"):
            if variable in variables:
                found[int(variables[variable])] = int(name)
                break
    return found


def steps_of(output):
    """The last step that metrics.jsonl of a run folder has; 0: none yet."""
    last = 0
    with contextlib.suppress(OSError):
        with open(os.path.join(output, "metrics.jsonl"), encoding="utf-8") as file:
            for line in file:
                with contextlib.suppress(ValueError):  # the last line may be half written
                    row = json.loads(line)
                    if "gradient_norm" in row:
                        last = max(last, row["step"])
    return last


def losses_of(output):
    with open(os.path.join(output, "metrics.jsonl"), encoding="utf-8") as file:
        return [row["loss"] for row in map(json.loads, file) if "gradient_norm" in row]


def require_same(output, reference):
    got, want = contents(output), contents(reference)
    require(sorted(got) == sorted(want),
            f"{output} has other files than {reference}: {sorted(set(got) ^ set(want))}")
    different = [path for path in want if got[path] != want[path]]
    require(not different, f"{output} and {reference} differ in {different}")


class Job:
    """Processes that train together, started by hand or as one launcher."""

    def __init__(self, output):
        self.output = output
        self.processes = []
        self.logs = []

    def start(self, command, environment, prefix=()):
        log = f"{self.output}.{len(self.processes)}.err"
        with open(log, "wb") as file:
            self.processes.append(subprocess.Popen(
                [*prefix, *command], stdout=file, stderr=file, stdin=subprocess.DEVNULL,
                env={**clean_environment(), **environment}))
        self.logs.append(log)

    def said(self, number):
        with open(self.logs[number], encoding="utf-8", errors="replace") as file:
            return file.read().strip()

    def wait_for_step(self, step):
        end = time.monotonic() + PATIENCE
        while steps_of(self.output) < step:
            ended = [number for number, process in enumerate(self.processes)
                     if process.poll() is not None]
            require(not ended, f"{self.output}: ended before step {step}:\n" +
                    "\n".join(self.said(number) for number in ended))
            require(time.monotonic() < end, f"{self.output}: no step {step} in {PATIENCE} s")
            time.sleep(0.02)

    def signal_rank(self, rank, number):
        """To the process of a rank, which may be a launcher's child."""
        process = processes_of(self.output).get(rank)
        require(process is not None, f"{self.output}: rank {rank} is not there")
        os.kill(process, number)

    def wait(self, numbers=None, limit=PATIENCE):
        """The exit codes of the started processes, or of those with these numbers."""
        end = time.monotonic() + limit
        codes = []
        for number in range(len(self.processes)) if numbers is None else numbers:
            try:
                codes.append(self.processes[number].wait(max(0.1, end - time.monotonic())))
            except subprocess.TimeoutExpired:
                raise Failed(f"{self.output}: process {number} has not ended within "
                             f"{limit:.0f} s:\n{self.said(number)}") from None
        return codes

    def wait_for_success(self):
        codes = self.wait()
        require(not any(codes), f"{self.output}: exit codes {codes}:\n" +
                "\n".join(self.said(number) for number in range(len(codes))))

    def end(self):
        """Leaves no process behind, a stopped one neither."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


class Runs:
    """One recipe on a model and data, trained in folders beside each other."""

    def __init__(self, program, folder, settings):
        self.program = os.path.abspath(program)
        self.folder = os.path.abspath(folder)
        self.recipe = os.path.join(self.folder, "recipe.toml")
        os.makedirs(self.folder, exist_ok=True)
        with open(self.recipe, "w", encoding="utf-8") as file:
            file.writelines(f"{key} = {value}\n" for key, value in settings.items())
        self._jobs = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, name, *further):
        return [self.program, "train", self.recipe, "--output", self.path(name), *further]

    def job(self, name):
        self._jobs.append(Job(self.path(name)))
        return self._jobs[-1]

    def by_hand(self, name, *further, ranks=2, environment_of=rank_environment):
        job, port = self.job(name), free_port()
        for rank in range(ranks):
            job.start(self.command(name, *further), environment_of(rank, ranks, port))
        return job

    def others_by_hand(self, name, arguments, ranks=2, environment_of=rank_environment):
        """Another command than train, whose output is called `name`."""
        job, port = self.job(name), free_port()
        for rank in range(ranks):
            job.start([self.program, *arguments], environment_of(rank, ranks, port))
        return job

    def others_launched(self, name, launcher, arguments, environment=None):
        job = self.job(name)
        job.start([self.program, *arguments], environment or {}, launcher)
        return job

    def launched(self, name, launcher, *further, environment=None):
        job = self.job(name)
        job.start(self.command(name, *further), environment or {}, launcher)
        return job

    def end(self):
        for job in self._jobs:
            job.end()


@contextlib.contextmanager
def runs_of_check(arguments, name, make):
    """The runs that `make` makes in a folder. A failure ends the program and keeps the folder."""
    folder = arguments.keep or tempfile.mkdtemp(prefix=f"{name}.")
    runs = make(folder)
    try:
        yield runs
    except Failed as problem:
        sys.exit(f"{name}.py: {problem}\nall runs are in {folder}")
    finally:
        runs.end()
    if not arguments.keep:
        shutil.rmtree(folder)
