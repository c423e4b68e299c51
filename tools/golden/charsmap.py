"""Precompiled character maps (`precompiled_charsmap` of SentencePiece) from a dictionary.

The bytes are the size of a Darts double array, the array, and the values, each with a zero byte
after it. A unit of the array holds the byte that leads to it (bits 0 to 7), whether a key ends
there (8) and the XOR distance to its children's base (10 to 31, in steps of 256 where bit 9 is set);
a key's value is its child 0. Here every node has a block of 256 units of its own, whose low eight
bits are those of its own place, so that all distances are multiples of 256.
"""

import array
import struct

LEAF = 1 << 8
STEPS = 1 << 9
VALUE = 1 << 31


def make_charsmap(mapping):
    """`mapping`: string or bytes, not empty and without a zero byte -> string."""
    values, offsets, root = b"", {}, {}
    for key, value in mapping.items():
        if value not in offsets:
            offsets[value] = len(values)
            values += value.encode() + b"\0"
        node = root
        for byte in key.encode() if isinstance(key, str) else key:
            node = node.setdefault(byte, {})
        node[None] = offsets[value]
    units = array.array("I", [0] * 256)
    assert units.itemsize == 4
    value_blocks = {}  # of keys that are no prefix of another key

    def add_block(fill):
        units.extend([fill] * 256)
        return len(units) - 256

    def place(at, node):
        if list(node) == [None]:
            value = node[None]
            if value not in value_blocks:
                value_blocks[value] = add_block(VALUE | value)
            base = value_blocks[value] | at & 255
        else:
            base = add_block(0) | at & 255
        units[at] |= (at ^ base) >> 8 << 10 | STEPS | (LEAF if None in node else 0)
        for byte, child in node.items():
            if byte is not None:
                units[base ^ byte] = byte
                place(base ^ byte, child)
            elif len(node) > 1:
                units[base] = VALUE | child

    place(0, root)
    return struct.pack("<I", 4 * len(units)) + units.tobytes() + values
