#!/usr/bin/env python3
"""The reader of the Python package `gguf` behind Assay's adapter protocol.

    pip install gguf==0.19.0
    assay run --adapter crates/adapters/python/gguf_py.py

Its last stage is `data`: the constructor of GGUFReader cuts the bytes of every tensor out of the
file and gives them their shape, and does not come back if they are not there. What lies between and
behind the tensors it does not look at.

A file counts as read if it can be opened and every value be asked for with `contents()`, which is
how the package hands them out. What that flattens or rounds (arrays of arrays, the bits of floats)
is then taken from the `parts` that the reader keeps of each field.
"""

import base64
import importlib.metadata
import json
import os
import sys
import traceback

# The pools of threads of the linear algebra of numpy count as address space, which is limited.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
try:
    import gguf
    import numpy
    from gguf.constants import GGMLQuantizationType, GGUFValueType
    from gguf.gguf_reader import READER_SUPPORTED_VERSIONS
except ImportError as error:
    sys.exit(f"gguf_py.py: {error}; {sys.executable} needs the package: pip install gguf==0.19.0")

PACKAGE = os.path.dirname(gguf.__file__)
NAMES = {
    GGUFValueType.UINT8: "u8",
    GGUFValueType.INT8: "i8",
    GGUFValueType.UINT16: "u16",
    GGUFValueType.INT16: "i16",
    GGUFValueType.UINT32: "u32",
    GGUFValueType.INT32: "i32",
    GGUFValueType.FLOAT32: "f32",
    GGUFValueType.BOOL: "bool",
    GGUFValueType.STRING: "string",
    GGUFValueType.ARRAY: "array",
    GGUFValueType.UINT64: "u64",
    GGUFValueType.INT64: "i64",
    GGUFValueType.FLOAT64: "f64",
}
FLOAT_DIGITS = {GGUFValueType.FLOAT32: 8, GGUFValueType.FLOAT64: 16}


def start(request):
    if request["protocol"] != 1:
        sys.exit(f"gguf_py.py: speaks protocol 1 only, not {request['protocol']}")
    return {
        "result": "started",
        "protocol": 1,
        "name": "gguf",
        "version": importlib.metadata.version("gguf"),
        "language": "Python",
        "homepage": "https://pypi.org/project/gguf/",
        "capabilities": ["parse"],
        "last_stage": "data",
        "versions": [int(version) for version in READER_SUPPORTED_VERSIONS],
        "byte_orders": ["little", "big"],
        "tensor_types": [kind.name for kind in GGMLQuantizationType],
    }


def parse(request):
    path = request["path"]
    try:
        open(path, "rb").close()
    except OSError as error:
        return {"result": "skipped", "reason": str(error)}
    try:
        return {"result": "accepted", "document": document(gguf.GGUFReader(path))}
    except MemoryError:
        raise  # not a judgement of the file: the process ends
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        if place.filename == __file__:
            raise  # a fault of this program, not of the package
        answer = {"result": "rejected", "message": f"{type(error).__name__}: {error}"}
        # A refusal that is meant is raised by the package itself; it never wraps those of others.
        is_meant = place.filename.startswith(PACKAGE) and place.line.startswith("raise ")
        return answer if is_meant else answer | {"incidental": True}


def document(reader):
    # The first three fields are the header, under names of the reader's own.
    header, pairs = list(reader.fields.values())[:3], list(reader.fields.values())[3:]
    return {
        "version": int(header[0].contents()),
        "byte_order": reader.endianess.name.lower(),
        "alignment": str(int(reader.alignment)),
        "data_offset": str(int(reader.data_offset)) if reader.tensors else None,
        "metadata": [pair(field) for field in pairs],
        "tensors": [
            {
                "name": tensor.name,
                "type": tensor.tensor_type.name,
                "type_id": int(tensor.tensor_type),
                "ne": [str(int(dim)) for dim in tensor.shape],
                "offset": str(int(tensor.data_offset) - int(reader.data_offset)),
            }
            for tensor in reader.tensors
        ],
    }


def pair(field):
    value, kind = field.contents(), field.types[0]
    result = {"key": field.name, "type": NAMES[kind]}
    if kind == GGUFValueType.STRING:
        return result | {"value": value}
    parts = iter(field.parts[3:])  # after the length of the key, the key and the type
    if kind == GGUFValueType.ARRAY:
        return result | array(parts)
    shown = number(kind, next(parts))
    if shown.get("byte", 2) <= 1:
        del shown["byte"]
    return result | shown


def array(parts):
    """An array, its parts taken from an iterator. The part of an element behind the end of the file is
    empty: then there are fewer elements than were declared. Without elements any type will do."""
    kind, length = int(next(parts)[0]), int(next(parts)[0])
    result = {"items": NAMES.get(kind, f"type {kind}"), "value": []}
    for _ in range(length):
        if kind == GGUFValueType.ARRAY:
            result["value"].append(array(parts))
        elif kind == GGUFValueType.STRING:
            next(parts)  # the length
            result["value"].append(text(next(parts).tobytes()))
        elif (part := next(parts)).size:
            for name, item in number(kind, part).items():
                result.setdefault(name, []).append(item)
    if kind in FLOAT_DIGITS:
        result.setdefault("bits", [])
    if all(byte <= 1 for byte in result.get("byte", ())):
        result.pop("byte", None)
    return result


def number(kind, part):
    """A number or bool, and its bits or byte beside it."""
    order = {"<": "little", ">": "big"}.get(part.dtype.byteorder, sys.byteorder)
    bits = int.from_bytes(part.tobytes(), order)
    if kind == GGUFValueType.BOOL:
        return {"value": bits != 0, "byte": bits}
    if kind in FLOAT_DIGITS:
        return {"value": decimal(part[0]), "bits": f"0x{bits:0{FLOAT_DIGITS[kind]}x}"}
    return {"value": str(int(part[0]))}


def decimal(number):
    """The shortest decimal that reads back to the same number, without an exponent."""
    special = {"nan": "NaN", "inf": "inf", "-inf": "-inf"}
    return special.get(str(number)) or numpy.format_float_positional(number, unique=True, trim="-")


def text(raw):
    """Bytes as JSON: a string, or base64 where they are not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode("ascii")}


def stop(request):
    return {"result": "stopped"}


for line in sys.stdin:
    request = json.loads(line)
    command = {"start": start, "parse": parse, "stop": stop}[request["command"]]
    print(json.dumps({"seq": request["seq"]} | command(request)), flush=True)
    if command is stop:
        break
