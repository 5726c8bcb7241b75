#!/usr/bin/env python3
import json, struct, sys

# The value types in the order of their numbers, and how `struct` calls them; it knows no strings (s) and arrays (a).
CODES = dict(zip("u8 i8 u16 i16 u32 i32 f32 bool string array u64 i64 f64".split(), "BbHhIif?saQqd"))

class Reader:
    def __init__(self, path):
        self.at, self.data = 0, open(path, "rb").read()
        magic, version, tensors, pairs = self.take(4), self.number("I"), self.number("Q"), self.number("Q")
        if magic != b"GGUF":
            raise ValueError(f"{magic} is not GGUF")
        self.document = {"version": version, "metadata": [self.pair() for _ in range(pairs)]}
    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]
    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]
    def string(self):
        return self.take(self.number("Q")).decode("latin-1")
    def kind(self):
        return list(CODES)[self.number("I")]
    def value(self, kind):
        value = self.string() if kind == "string" else self.number(CODES[kind])
        return value if kind in ("string", "bool") else str(value)
    def pair(self):
        key, kind = self.string(), self.kind()
        if kind == "array":
            items, length = self.kind(), self.number("Q")
            return {"key": key, "type": kind, "items": items, "value": [self.value(items) for _ in range(length)]}
        return {"key": key, "type": kind, "value": self.value(kind)}

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
