#!/usr/bin/env python3
import json, sys

ABOUT = {"result": "started", "protocol": 1, "name": "example-python", "version": "1", "language": "Python",
         "homepage": "https://example.org", "capabilities": ["parse"], "last_stage": "metadata"}

for request in map(json.loads, sys.stdin):
    answer = {"start": ABOUT, "stop": {"result": "stopped"}}.get(request["command"])
    if request["command"] == "parse":
        answer = {"result": "skipped", "reason": "nothing is read yet"}
    print(json.dumps({"seq": request["seq"], **answer}), flush=True)
    if request["command"] == "stop":
        break
