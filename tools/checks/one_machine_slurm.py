"""A Slurm cluster of this machine alone, for checks: munged, slurmctld and slurmd with a
configuration in a temporary folder, which end with the check. Needs root, and the packages
slurm-wlm and munge.
"""

import os
import secrets
import shutil
import socket
import subprocess
import time

from launched_runs import require

CONFIGURATION = """\
ClusterName=check
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={daemon_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A job that goes back into the queue waits until its credentials have expired.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
JobRequeue=1
KillWait=30
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=check Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    def __init__(self, folder, port):
        self.folder = folder
        self.environment = {"SLURM_CONF": os.path.join(folder, "slurm.conf")}
        self.host = socket.gethostname().split(".")[0]
        self._port = port
        self._daemons = []

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_):
        self._end()

    def run(self, *command):
        done = subprocess.run(command, env={**os.environ, **self.environment}, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        require(done.returncode == 0, f"{' '.join(command)}: {done.stdout}")
        return done.stdout.strip()

    def state_of(self, job):
        return self.run("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T")

    def _start(self):
        os.makedirs(self.folder, mode=0o755, exist_ok=True)
        for name in ("state", "spool"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        key = os.path.join(self.folder, "munge.key")
        with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(secrets.token_bytes(1024))
        with open(self.environment["SLURM_CONF"], "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(folder=self.folder, host=self.host, port=self._port,
                                            daemon_port=self._port + 1))
        self._daemon("munged", "--foreground", "--force", f"--key-file={key}",
                     *(f"--{name}={self.folder}/munge.{end}" for name, end in
                       (("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"),
                        ("seed-file", "seed"))))
        self._wait_for(lambda: os.path.exists(os.path.join(self.folder, "munge.socket")), "munged")
        self._daemon("slurmctld", "-D", "-c")
        self._daemon("slurmd", "-D", "-N", self.host)
        self._wait_for(self._idle, "Slurm's machine")

    def _idle(self):
        done = subprocess.run(["sinfo", "--noheader", "--format=%T"], text=True, check=False,
                              env={**os.environ, **self.environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        return done.stdout.strip() == "idle"

    def _daemon(self, *command):
        program = shutil.which(command[0], path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        with open(os.path.join(self.folder, f"{command[0]}.out"), "wb") as file:
            self._daemons.append(subprocess.Popen(
                [program, *command[1:]], stdout=file, stderr=file, stdin=subprocess.DEVNULL,
                env={**os.environ, **self.environment}))

    def _wait_for(self, ready, what):
        end = time.monotonic() + 30
        while not ready():
            for daemon in self._daemons:
                require(daemon.poll() is None, f"{daemon.args[0]} has ended; see its log and .out "
                        f"in {self.folder}")
            require(time.monotonic() < end, f"{what} is not ready after 30 s; see {self.folder}")
            time.sleep(0.2)

    def _end(self):
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
