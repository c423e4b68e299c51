"""Finds what `NFC`, `NFD`, `NFKC`, `NFKD`, `StripAccents`, `Strip` and `Nmt` of the `tokenizers`
package do with each code point."""

from tokenizers import normalizers

HANGUL = range(0xAC00, 0xAC00 + 11172)


def probe_compatibility(code_points, flags):
    """Compatibility decompositions where they differ from the canonical ones."""
    nfd, nfkd = normalizers.NFD().normalize_str, normalizers.NFKD().normalize_str
    compatibility = {}
    for c in code_points:
        got = nfkd(chr(c))
        if got != nfd(chr(c)):
            assert nfkd(got) == got, hex(c)
            flags[c].add("compatible")
            compatibility[c] = got
    return compatibility


def probe_compositions(decompositions, classes, flags):
    """Marks characters that NFC makes of others ("composite") and those that it joins to what is
    before them ("second"). A composite is made of the composite of all but the last character of
    its decomposition, and the last one."""
    nfc = normalizers.NFC().normalize_str
    for c, parts in decompositions.items():
        if nfc(parts) != chr(c):
            continue
        assert nfc(chr(c)) == chr(c), hex(c)
        first, second = parts[:-1], parts[-1]
        if len(first) > 1:
            first = nfc(first)
        assert len(first) == 1 and nfc(first + second) == chr(c), hex(c)
        assert ord(first) not in classes, hex(c)
        flags[c].add("composite")
        flags[ord(second)].add("second")
    for second in [*range(0x1161, 0x1161 + 21), *range(0x11A8, 0x11A8 + 27)]:
        flags[second].add("second")  # jamo, composed by arithmetic
    for c in HANGUL:
        assert nfc(normalizers.NFD().normalize_str(chr(c))) == chr(c), hex(c)


def probe_forms(code_points, decompositions, compatibility, flags):
    """The composed forms of one character follow from the tables."""
    nfc, nfkc = normalizers.NFC().normalize_str, normalizers.NFKC().normalize_str
    for c in code_points:
        if c in HANGUL:
            assert nfc(chr(c)) == nfkc(chr(c)) == chr(c), hex(c)
            continue
        if "composite" in flags[c] or c not in decompositions:
            assert nfc(chr(c)) == chr(c), hex(c)
        else:
            assert nfc(chr(c)) == nfc(decompositions[c]), hex(c)
        if c in compatibility:
            assert nfkc(chr(c)) == nfc(compatibility[c]), hex(c)


def probe_marks(code_points, flags):
    strip = normalizers.StripAccents().normalize_str
    for c in code_points:
        got = strip("a" + chr(c) + "b")
        if got == "ab":
            flags[c].add("mark")
        else:
            assert got == "a" + chr(c) + "b", hex(c)


def probe_white_space(code_points, flags):
    """What `Strip` takes away is what regular expressions call white space."""
    strip = normalizers.Strip().normalize_str
    for c in code_points:
        assert (strip(chr(c) + "a" + chr(c)) == "a") == ("regex_space" in flags[c]), hex(c)
