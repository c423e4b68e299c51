#!/usr/bin/env python3
"""Says in a sentence what `tandem evaluate --thresholds precision=P --format json` found.

usage: demo_threshold.py NAME FILE
"""
import json
import sys


def sentence(name, chosen):
    score, precision = chosen["threshold"], chosen["precision"]
    if score["value"] is None or precision["value"] is None:
        return f"{name}: no score can be said to cut results at."
    ten = 10 * precision["value"]
    what = "nine of ten" if chosen["met"] and ten < 9.25 else f"{ten:.1f} of ten"
    text = (f"{name}: at score {score['value']:.2f} and above {what} results are right (a package's "
            f"siblings count as right), and {chosen['recall']['value']:.0%} of what is right is found. The score was "
            "chosen on these same queries, so that nothing is promised of others: tandem calibrate --guarantee does.")
    if not chosen["met"]:
        text += " That is the best possible: no score makes nine of ten right."
    return text


def main():
    name, file = sys.argv[1:]
    with open(file, encoding="utf-8") as lines:
        found = json.load(lines)
    print(sentence(name, found["thresholds"][0]))


if __name__ == "__main__":
    main()
