#!/usr/bin/env python3
"""The GGUF reader of the Python package `mlx` behind Assay's adapter protocol.

    pip install "mlx[cpu]==0.32.4"
    assay run --adapter crates/adapters/python/mlx_py.py

Its last stage is `data`: `mx.load` copies the data of every tensor out of the mapped file. It gives two
maps. That of the metadata has numbers in arrays, whose types are those of the file but for f64, which
comes as f32. That of the tensors has arrays too: quantized ones are unpacked to f16, or, if they are Q4_0,
Q4_1 or Q8_0, come as packed words under the name of the tensor and as scales and biases beside it.

The reader is compiled code that works on the mapped file. What ends its process is not caught.
"""

import importlib.metadata
import json
import os
import sys

# What the library prints is no answer: answers go where standard output went, the rest to standard error.
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

try:
    import mlx.core as mx
except ImportError as error:
    sys.exit(f'mlx_py.py: {error}; {sys.executable} needs the package: pip install "mlx[cpu]==0.32.4"')

# What it unpacks: others of block formats it refuses, and those behind BF16 it takes for the end of the table.
TYPES = ["F32", "F16", "Q4_0", "Q4_1", "Q8_0", "Q2_K", "Q4_K", "Q6_K", "I8", "I16", "I32", "BF16"]
NAMES = {
    mx.uint8: "u8",
    mx.int8: "i8",
    mx.uint16: "u16",
    mx.int16: "i16",
    mx.uint32: "u32",
    mx.int32: "i32",
    mx.float32: "f32",
    mx.bool_: "bool",
    mx.uint64: "u64",
    mx.int64: "i64",
}


def start(request):
    if request["protocol"] != 1:
        sys.exit(f"mlx_py.py: speaks protocol 1 only, not {request['protocol']}")
    return {
        "result": "started",
        "protocol": 1,
        "name": "mlx",
        "version": importlib.metadata.version("mlx"),
        "language": "C++, Python",
        "homepage": "https://pypi.org/project/mlx/",
        "capabilities": ["parse"],
        "last_stage": "data",
        "versions": [2, 3],
        "byte_orders": ["little"],
        "tensor_types": TYPES,
        "omits": [
            "version",
            "byte_order",
            "alignment",
            "data_offset",
            "metadata.order",
            "metadata.duplicates",
            "metadata.byte",
            "tensors.order",
            "tensors.duplicates",
            "tensors.type",
            "tensors.offset",
        ],
    }


def parse(request):
    path = request["path"]
    try:
        open(path, "rb").close()
    except OSError as error:
        return {"result": "skipped", "reason": str(error)}
    try:
        # The format goes by the ending of the name, unless it is told.
        tensors, metadata = mx.load(path, format="gguf", return_metadata=True)
        mx.eval(list(tensors.values()))
    except MemoryError:
        raise  # not a judgement of the file: the process ends
    except Exception as error:
        answer = {"result": "rejected", "message": f"{type(error).__name__}: {error}"}
        # A refusal that is meant says which function refuses.
        return answer if str(error).startswith("[load_gguf]") else answer | {"incidental": True}
    return answer_of(sorted(tensors.items()), sorted(metadata.items()))


def answer_of(tensors, metadata):
    packed = beside_packed(dict(tensors))
    tensors = [(name, array) for name, array in tensors if name not in packed]
    # Of what is f32 nobody knows whether it was f64.
    omits = [f"metadata[{i}].type" for i, (_, value) in enumerate(metadata) if is_float(value)]
    omits += [f"tensors[{i}].ne" for i, (_, array) in enumerate(tensors) if array.dtype == mx.uint32]
    document = {
        "metadata": [{"key": key} | shown(value) for key, value in metadata],
        "tensors": [{"name": name} | shape(array) for name, array in tensors],
    }
    return {"result": "accepted", "document": document} | ({"omits": omits} if omits else {})


def beside_packed(tensors):
    """The names of scales and biases: those that stand beside packed words."""
    prefixes = [prefix(name) for name, array in tensors.items() if array.dtype == mx.uint32]
    beside = {start + part for start in prefixes for part in (b".scales", b".biases")}
    return {name for name in tensors if name.encode() in beside}


def prefix(name):
    """What the names of scales and biases begin with: mlx cuts off as many bytes as `.weight` has, whatever
    they are, and none of a shorter name."""
    name = name.encode()
    suffix = len(".weight")
    return name[:-suffix] if len(name) >= suffix else name


def shape(array):
    # No type of the format comes as u32, so that those are packed, and their shape is of words.
    return {} if array.dtype == mx.uint32 else {"ne": [str(dim) for dim in reversed(array.shape)]}


def is_float(value):
    return isinstance(value, mx.array) and value.dtype == mx.float32


def shown(value):
    if isinstance(value, str):
        return {"type": "string", "value": value}
    if isinstance(value, list):
        return {"type": "array", "items": "string", "value": value}
    if value.ndim == 0:
        return {"type": NAMES[value.dtype], "value": number(value.item())}
    return {"type": "array", "items": NAMES[value.dtype], "value": [number(item) for item in value.tolist()]}


def number(item):
    """A number or bool as JSON."""
    if isinstance(item, bool):
        return item
    return "NaN" if item != item else str(item)


def stop(request):
    return {"result": "stopped"}


for line in sys.stdin:
    request = json.loads(line)
    command = {"start": start, "parse": parse, "stop": stop}[request["command"]]
    print(json.dumps({"seq": request["seq"]} | command(request)), file=ANSWERS, flush=True)
    if command is stop:
        break
