#!/usr/bin/env python3
"""A reader of GGUF metadata, and the adapter that puts it before Assay. Needs Python 3.9, no package."""
import json, struct, sys

# The value types in the order of their numbers, and how `struct` calls them; it knows no strings (s) and arrays (a).
CODES = dict(zip("u8 i8 u16 i16 u32 i32 f32 bool string array u64 i64 f64".split(), "BbHhIif?saQqd"))

class Reader:
    def __init__(self, path):
        self.at, self.data = 0, open(path, "rb").read()
        magic, version, tensors, pairs = self.take(4), self.number("I"), self.number("Q"), self.number("Q")
        if magic != b"GGUF" or version not in (2, 3) or tensors > len(self.data):
            raise ValueError(f"{magic} of version {version} with {tensors} tensors")
        self.document = {"version": version, "metadata": [self.pair() for _ in range(pairs)]}
    def take(self, size):
        if size > len(self.data) - self.at:
            raise ValueError(f"{size} bytes wanted at {self.at}, {len(self.data) - self.at} left")
        self.at += size
        return self.data[self.at - size:self.at]
    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]
    def string(self):
        return self.take(self.number("Q")).decode("utf-8")  # raises a kind of ValueError
    def kind(self):
        number = self.number("I")
        if number >= len(CODES):
            raise ValueError(f"value type {number} before {self.at}")
        return list(CODES)[number]
    def value(self, kind):
        if kind == "array":
            raise ValueError(f"an array of arrays before {self.at}")
        value = self.string() if kind == "string" else self.number(CODES[kind])
        return value if kind in ("string", "bool") else str(value)
    def pair(self):
        key, kind = self.string(), self.kind()
        if not key or "\0" in key or key == "general.alignment" and kind != "u32":
            raise ValueError(f"the key {key!r} of type {kind}")
        if kind == "array":
            items, length = self.kind(), self.number("Q")
            return {"key": key, "type": kind, "items": items, "value": [self.value(items) for _ in range(length)]}
        value = self.value(kind)
        if key == "general.alignment" and int(value) not in range(8, 2**32, 8):
            raise ValueError(f"an alignment of {value}")
        return {"key": key, "type": kind, "value": value}

ABOUT = {"result": "started", "protocol": 1, "name": "example-python", "version": "1", "language": "Python",
         "homepage": "https://example.org", "capabilities": ["parse"], "last_stage": "metadata", "omits":
         ["byte_order", "alignment", "data_offset", "tensors", "metadata.bits", "metadata.byte"]}

for request in map(json.loads, sys.stdin):
    answer = {"start": ABOUT, "stop": {"result": "stopped"}}.get(request["command"])
    if request["command"] == "parse":
        try:
            answer = {"result": "accepted", "document": Reader(request["path"]).document}
        except ValueError as refusal:
            answer = {"result": "rejected", "message": str(refusal)}
    print(json.dumps({"seq": request["seq"], **answer}), flush=True)
    if request["command"] == "stop":
        break
