#!/usr/bin/env python3
"""Writes src/text/unicode/unicode_tables.cc by asking the pinned `tokenizers` package about every character.

    PEER_PYTHON tools/tables/make_unicode_tables.py src/text/unicode/unicode_tables.cc

Nothing is taken from a Unicode data file: the package carries its own, partly old, tables (its
categories and its decompositions come from different Unicode versions), and our ids must be equal
to its ids. Each property is found by an experiment on one code point; what an experiment cannot
explain stops the script.
"""

import sys

import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import probe_graphemes
import probe_normal_forms

PINNED = "0.23.3"
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
HANGUL = range(0xAC00, 0xAC00 + 11172)  # decomposed by arithmetic (The Unicode Standard, 3.12)
# Bits of Property::flags in src/text/unicode/unicode_tables.h, in this order.
FLAGS = ["removed", "blank", "chinese", "nonspacing", "space", "punctuation", "word", "regex_space",
         "decomposes", "lowers", "mark", "compatible", "composite", "second"]


def bert(clean=False, chinese=False, strip=False, lower=False):
    return normalizers.BertNormalizer(
        clean_text=clean, handle_chinese_chars=chinese, strip_accents=strip, lowercase=lower)


def probe_clean(flags):
    normalizer = bert(clean=True)
    for c in CODE_POINTS:
        char = chr(c)
        got = normalizer.normalize_str("a" + char + "a")
        if got == "aa":
            flags[c].add("removed")
        elif got == "a a":
            flags[c].add("blank")
        else:
            assert got == "a" + char + "a", (hex(c), got)


def probe_chinese(flags):
    normalizer = bert(chinese=True)
    for c in CODE_POINTS:
        char = chr(c)
        got = normalizer.normalize_str("a" + char + "a")
        if got == "a " + char + " a":
            flags[c].add("chinese")
        else:
            assert got == "a" + char + "a", (hex(c), got)


def hangul(c):
    index = c - 0xAC00
    parts = [0x1100 + index // 588, 0x1161 + index % 588 // 28]
    if index % 28:
        parts.append(0x11A7 + index % 28)
    return "".join(map(chr, parts))


def probe_decomposition(flags):
    nfd, strip = normalizers.NFD(), bert(strip=True)
    decompositions = {}
    for c in CODE_POINTS:
        got = nfd.normalize_str(chr(c))
        if c in HANGUL:
            assert got == hangul(c), hex(c)
            decompositions[c] = got
        elif got != chr(c):
            flags[c].add("decomposes")
            decompositions[c] = got
        elif strip.normalize_str(chr(c)) == "":
            flags[c].add("nonspacing")
    for c, parts in decompositions.items():
        kept = "".join(p for p in parts if "nonspacing" not in flags[ord(p)])
        assert strip.normalize_str(chr(c)) == kept, hex(c)
        assert nfd.normalize_str(parts) == parts, hex(c)
    return {c: parts for c, parts in decompositions.items() if c not in HANGUL}


def probe_lower(flags):
    first, second = bert(lower=True), normalizers.Lowercase()
    lower = {}
    for c in CODE_POINTS:
        got = first.normalize_str(chr(c))
        assert got == second.normalize_str(chr(c)), hex(c)
        # Neighbours must not matter (a final sigma would).
        assert first.normalize_str("a" + chr(c)) == "a" + got, hex(c)
        if got != chr(c):
            flags[c].add("lowers")
            lower[c] = got
    return lower


def probe_words(flags):
    splitter = pre_tokenizers.BertPreTokenizer()
    for c in CODE_POINTS:
        char = chr(c)
        got = [piece for piece, _ in splitter.pre_tokenize_str("a" + char + "a")]
        if got == ["a", "a"]:
            flags[c].add("space")
        elif got == ["a", char, "a"]:
            flags[c].add("punctuation")
        else:
            assert got == ["a" + char + "a"], (hex(c), got)


def with_added(**kwargs):
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.add_tokens([AddedToken("XYZ", normalized=False, **kwargs)])
    return tokenizer


def probe_added(flags):
    """What the `single_word`, `lstrip` and `rstrip` of an added token take for word and space."""
    single, left, right = with_added(single_word=True), with_added(lstrip=True), with_added(rstrip=True)
    for start in range(0, len(CODE_POINTS), 1 << 15):
        chunk = CODE_POINTS[start:start + (1 << 15)]
        before = single.encode_batch([chr(c) + "XYZ" for c in chunk])
        after = single.encode_batch(["XYZ" + chr(c) for c in chunk])
        lefts = left.encode_batch([chr(c) + "XYZ" for c in chunk])
        rights = right.encode_batch(["XYZ" + chr(c) for c in chunk])
        for c, b, a, l, r in zip(chunk, before, after, lefts, rights):
            word = "XYZ" not in b.tokens
            assert word == ("XYZ" not in a.tokens), hex(c)
            space = len(l.tokens) == 1
            assert space == (len(r.tokens) == 1), hex(c)
            if word:
                flags[c].add("word")
            if space:
                flags[c].add("regex_space")


def probe_combining_classes():
    """Ranks of the canonical combining classes: all that canonical reordering depends on."""
    order = normalizers.NFD().normalize_str
    low, high = "\u0334", "\u0345"  # class 1, the lowest, and 240, the highest
    marks = []
    for c in CODE_POINTS:
        char = chr(c)
        decomposed = order(char)
        if decomposed != char:
            continue
        if order(char + low) != char + low or order(high + char) != high + char:
            marks.append(char)
    for mark in (low, high):
        assert mark in marks
    # a sorts strictly before b iff "ba" is swapped; equal iff neither order is.
    classes = []  # one list of marks for each class, ascending
    for mark in marks:
        first, last = 0, len(classes)
        while first < last:
            middle = (first + last) // 2
            other = classes[middle][0]
            if order(other + mark) != other + mark:
                last = middle
            elif order(mark + other) != mark + other:
                first = middle + 1
            else:
                classes[middle].append(mark)
                break
        else:
            classes.insert(first, [mark])
    assert len(classes) < 250
    return {ord(mark): rank + 1 for rank, group in enumerate(classes) for mark in group}


def rows(values, per_row):
    values = list(values)
    return "".join("    " + " ".join(values[i:i + per_row]) + "\n"
                   for i in range(0, len(values), per_row))


def mapping_source(name, mapping, longest=7):
    pool, entries = [], []
    for c in sorted(mapping):
        parts = [ord(p) for p in mapping[c]]
        assert len(parts) <= longest and len(pool) < 1 << 16
        entries.append("{0x%X, %d, %d}," % (c, len(pool), len(parts)))
        pool += parts
    return ("constexpr char32_t k%sPool[] = {\n%s};\nconstexpr Mapping k%sEntries[] = {\n%s};\n"
            % (name, rows(("0x%X," % p for p in pool), 12), name, rows(entries, 5)))


def main():
    if tokenizers.__version__ != PINNED:
        sys.exit(f"tokenizers {PINNED} is needed, {tokenizers.__version__} is installed")
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    flags = [set() for _ in range(0x110000)]
    probe_clean(flags)
    probe_chinese(flags)
    decompositions = probe_decomposition(flags)
    lower = probe_lower(flags)
    probe_words(flags)
    probe_added(flags)
    classes = probe_combining_classes()
    for parts in decompositions.values():  # BertNormalizer::NormalizeMarks relies on it
        marks = [ord(part) in classes for part in parts]
        assert marks == sorted(marks), parts
    compatibility = probe_normal_forms.probe_compatibility(CODE_POINTS, flags)
    probe_normal_forms.probe_compositions(decompositions, classes, flags)
    probe_normal_forms.probe_forms(CODE_POINTS, decompositions, compatibility, flags)
    probe_normal_forms.probe_marks(CODE_POINTS, flags)
    probe_normal_forms.probe_white_space(CODE_POINTS, flags)
    graphemes = probe_graphemes.probe_graphemes(CODE_POINTS)
    properties, runs, previous = {}, [], None
    for c in range(0x110000):
        bits = sum(1 << i for i, name in enumerate(FLAGS) if name in flags[c])
        key = (bits, classes.get(c, 0), graphemes.get(c, 0))
        index = properties.setdefault(key, len(properties))
        if index != previous:
            runs.append((c, index))
            previous = index
    assert len(properties) <= 256
    with open(sys.argv[1], "w") as out:
        out.write(f"""// Generated by tools/tables/make_unicode_tables.py src/text/unicode/unicode_tables.cc
// from tokenizers {tokenizers.__version__}. Do not edit; the script says how each value is found.
// clang-format off
#include "text/unicode/unicode_tables.h"

namespace tandem::text {{
namespace {{

constexpr Property kProperties[] = {{
{rows(("{0x%X, %d, %d}," % p for p in properties), 10)}}};
// The first code point of a run << 8 | its index in kProperties.
constexpr uint32_t kPropertyRuns[] = {{
{rows(("0x%X," % (c << 8 | i) for c, i in runs), 12)}}};
{mapping_source("Decomposition", decompositions)}{mapping_source("Lower", lower)}{
    mapping_source("Compatibility", compatibility, 18)}
}}  // namespace

std::span<const Property> Properties() {{ return kProperties; }}
std::span<const uint32_t> PropertyRuns() {{ return kPropertyRuns; }}
MappingTable DecompositionTable() {{ return {{kDecompositionEntries, kDecompositionPool}}; }}
MappingTable LowerTable() {{ return {{kLowerEntries, kLowerPool}}; }}
MappingTable CompatibilityTable() {{ return {{kCompatibilityEntries, kCompatibilityPool}}; }}

}}  // namespace tandem::text
""")
    print(f"{len(properties)} properties, {len(runs)} runs, {len(decompositions)} decompositions, "
          f"{len(compatibility)} for compatibility, {len(lower)} lower-cased, "
          f"{len(set(classes.values()))} combining classes", file=sys.stderr)


if __name__ == "__main__":
    main()
