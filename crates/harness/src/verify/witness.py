"""Shows what the package gguf reads of one file, as a line of JSON.

Without an argument: the version of the package. The document has Assay's canonical form, taken from
what GGUFReader found where; a bool is the byte that the reader took for it. Version 1, which the
reader refuses, is the only thing of the format that it cannot show.
"""

import base64
import importlib.metadata
import json
import sys

import gguf
from gguf.constants import GGMLQuantizationType, GGUFValueType

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
FLOATS = {GGUFValueType.FLOAT32: 8, GGUFValueType.FLOAT64: 16}


def text(raw):
    """Bytes as JSON: a string, or base64 where they are not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode("ascii")}


def is_big(array):
    """Whether the reader took the numbers of a part to be big-endian."""
    order = array.dtype.byteorder
    return order == ">" or (order == "=" and sys.byteorder == "big")


def number(array):
    """The one number of a part, as an unsigned one of the same bits."""
    if array.size != 1:
        raise ValueError(f"a part of {array.size} numbers where one was expected")
    return int.from_bytes(array.tobytes(), "big" if is_big(array) else "little")


def shown(kind, array):
    """A number or bool: what it is and, beside it, its bits or byte."""
    bits = number(array)
    if kind == GGUFValueType.BOOL:
        return {"value": bits != 0, "byte": bits}
    if kind in FLOATS:
        return {"value": str(float(array[0])), "bits": f"0x{bits:0{FLOATS[kind]}x}"}
    return {"value": str(int(array[0]))}


class Parts:
    """The parts of a field, taken one after another."""

    def __init__(self, parts):
        self.parts = parts
        self.at = 0

    def take(self):
        self.at += 1
        return self.parts[self.at - 1]

    def string(self):
        length = number(self.take())
        raw = self.take().tobytes()
        if len(raw) != length:
            raise ValueError(f"{len(raw)} bytes of a string of {length}")
        return text(raw)

    def array(self):
        kind = GGUFValueType(number(self.take()))
        length = number(self.take())
        result = {"items": NAMES[kind]}
        if kind == GGUFValueType.STRING:
            result["value"] = [self.string() for _ in range(length)]
        elif kind == GGUFValueType.ARRAY:
            result["value"] = [self.array() for _ in range(length)]
        else:
            items = [shown(kind, self.take()) for _ in range(length)]
            result["value"] = [item["value"] for item in items]
            for beside in ("bits", "byte"):
                if items and beside in items[0]:
                    result[beside] = [item[beside] for item in items]
        return result


def pair(field):
    parts = Parts(field.parts)
    result = {"key": parts.string()}
    kind = GGUFValueType(number(parts.take()))
    result["type"] = NAMES[kind]
    if kind == GGUFValueType.STRING:
        result["value"] = parts.string()
    elif kind == GGUFValueType.ARRAY:
        result.update(parts.array())
    else:
        result.update(shown(kind, parts.take()))
    if parts.at != len(field.parts) or field.types[0] != kind:
        raise ValueError(f"field {field.name!r} has parts that were not taken")
    return result


def tensor(entry):
    _, name, _, dims, kind, offset = entry.field.parts
    return {
        "name": text(name.tobytes()),
        "type_id": int(entry.tensor_type),
        "type": GGMLQuantizationType(number(kind)).name,
        "ne": [str(int(dim)) for dim in dims],
        "offset": str(number(offset)),
    }


def document(path):
    reader = gguf.GGUFReader(path)
    # The first three fields are the header, under names of the reader's own.
    header = list(reader.fields.values())[:3]
    pairs = list(reader.fields.values())[3:]
    if len(pairs) != number(header[2].parts[0]) or len(reader.tensors) != number(header[1].parts[0]):
        raise ValueError("the reader lost a field or a tensor")
    return {
        "version": number(header[0].parts[0]),
        "byte_order": "big" if is_big(header[0].parts[0]) else "little",
        "alignment": str(int(reader.alignment)),
        "data_offset": str(int(reader.data_offset)) if reader.tensors else None,
        "metadata": [pair(field) for field in pairs],
        "tensors": [tensor(entry) for entry in reader.tensors],
    }


def main():
    if len(sys.argv) < 2:
        return {"version": importlib.metadata.version("gguf")}
    try:
        return {"outcome": "accept", "document": document(sys.argv[1])}
    except Exception as error:  # whatever the reader raises is its way to refuse a file
        return {"outcome": "refuse", "message": f"{type(error).__name__}: {error}"}


print(json.dumps(main()))
