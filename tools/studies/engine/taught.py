"""What a study's arms are trained on: the pairs of a set, with mined negatives, or with what a judge says."""

import os
import shutil
import subprocess
import sys

from . import data as study_data
from .plan import CROSS
from .records import RunError, say

MINED = "mined.jsonl"
CROSS_ENCODER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "train_cross_encoder.py")


class TaughtPairs:
    """The part of a Workshop that makes them, beside its data."""

    def mine(self, name, spec):
        """Writes the training pairs of a set with hard negatives, mined by the base."""
        output = self.data(name, MINED)
        if os.path.exists(output):
            return
        self.program(["mine", "--model", os.path.join(self.folder, "base", "model"), "--dataset",
                      self.data(name, "train"), "--output", output, "--negatives",
                      str(spec["mined_negatives"]), "--range", spec.get("mined_range", "10:100"),
                      "--precision", self.options.precision], quiet=True)

    def taught(self, name, arm=None):
        """What a set is trained on: a folder, or the lines with mined negatives or with scores."""
        if arm is not None and arm.scored:
            return self.data(name, f"{arm.scored}.jsonl")
        return self.data(name, MINED if "mined_negatives" in self.study.data[name] else "train")

    def score(self, name, kind):
        """Writes the training pairs of a set with what the whole model says of them."""
        output = self.data(name, f"{kind}.jsonl")
        if os.path.exists(output):
            return
        judge = self.cross_encoder(name) if kind in CROSS else self.options.model
        self.program(["score", "--model", judge, "--pairs", self.taught(name), "--as", kind.split("_")[-1],
                      "--to", "flag_embedding", "--output", output, "--precision", self.options.precision],
                     quiet=True)

    def cross_encoder(self, name):
        """A cross-encoder that learnt the grades of `judge_train` queries that the set is not trained on."""
        output = self.data(name, "cross-encoder")
        if os.path.isdir(output):
            return output
        spec = dict(self.study.data[name])
        spec["train"] += spec.pop("judge_train")
        spec.pop("wrong", None)  # the judge learns from what is right
        known = study_data.make(f"{name}-judge", spec, self.options.data_root, self.folder)
        shutil.rmtree(output + ".partial", ignore_errors=True)
        command = [sys.executable, CROSS_ENCODER, "--base", os.path.abspath(self.options.model), "--data",
                   os.path.join(known, "train"), "--without", self.data(name, "train"), "--output",
                   output + ".partial"]
        say(f"{name}: trains the cross-encoder")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RunError(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
        os.rename(output + ".partial", output)
        return output
