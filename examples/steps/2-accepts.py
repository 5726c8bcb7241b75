#!/usr/bin/env python3
import json, sys

ABOUT = {"result": "started", "protocol": 1, "name": "example-python", "version": "1", "language": "Python",
         "homepage": "https://example.org", "capabilities": ["parse"], "last_stage": "metadata", "omits":
         ["version", "byte_order", "alignment", "data_offset", "metadata", "tensors"]}

for request in map(json.loads, sys.stdin):
    answer = {"start": ABOUT, "stop": {"result": "stopped"}}.get(request["command"])
    if request["command"] == "parse":
        with open(request["path"], "rb") as file:
            if file.read(4) == b"GGUF":
                answer = {"result": "accepted", "document": {}}
            else:
                answer = {"result": "rejected", "message": "not a GGUF file"}
    print(json.dumps({"seq": request["seq"], **answer}), flush=True)
    if request["command"] == "stop":
        break
