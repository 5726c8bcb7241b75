"""Writes the golden decodes: blocks of every tensor type, and the weights that other programs make of them.

    decode.py --ggml DIR [--check] [--only TYPE]

DIR is the folder of ggml 0.25.1's base library (Linux on x86-64), and Python needs two packages:

    npm pack @node-llama-cpp/linux-x64@3.22.1 && tar -xzf node-llama-cpp-linux-x64-3.22.1.tgz
    pip install gguf==0.19.0 numpy==2.4.6
    python3 corpus/golden/decode.py --ggml package/bins/linux-x64

No weight is computed here, except of the types that neither program decodes; those are marked as derived. With
`--check` nothing is written: the exit status is 1 if anything is not as it is in the files.
"""

import argparse
import ctypes
import gzip
import hashlib
import importlib.metadata
import json
import platform
import sys
from pathlib import Path

import blocks as sources
import numpy as np
from gguf import quants
from gguf.constants import GGMLQuantizationType

FOLDER = Path(__file__).parent / "decode"
PINNED = {"gguf": "0.19.0", "numpy": "2.4.6"}
GGML_VERSION = "0.25.1"
GGML_SHA256 = "6c342c8aeb20cb31a18099d6f79de4de6703814d1cfd5c4d754a8643087e486e"
NAN = np.uint32(0x7FC00000)
COMMAND = "python3 corpus/golden/decode.py --ggml DIR"


class Traits(ctypes.Structure):
    """`struct ggml_type_traits` of ggml 0.25."""

    _fields_ = [
        ("type_name", ctypes.c_char_p),
        ("blck_size", ctypes.c_int64),
        ("blck_size_interleave", ctypes.c_int64),
        ("type_size", ctypes.c_size_t),
        ("is_quantized", ctypes.c_bool),
        ("to_float", ctypes.c_void_p),
        ("from_float_ref", ctypes.c_void_p),
    ]


class Ggml:
    """ggml's base library."""

    def __init__(self, folder):
        path = Path(folder) / "libggml-base.so"
        self.sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        if self.sha256 != GGML_SHA256:
            sys.exit(f"{path}: expected the library of ggml {GGML_VERSION} with SHA-256 {GGML_SHA256}, found {self.sha256}")
        self.library = ctypes.CDLL(str(path))
        self.library.ggml_get_type_traits.restype = ctypes.POINTER(Traits)

    def decode(self, kind, data):
        """(name of the function, weights), or None if the library decodes no such blocks."""
        traits = self.library.ggml_get_type_traits(ctypes.c_int(kind.id)).contents
        if (traits.blck_size, traits.type_size) != (kind.block, kind.size) and traits.type_size:
            sys.exit(f"{kind.name}: ggml has {traits.blck_size} weights in {traits.type_size} bytes")
        name, address = "ggml_get_type_traits(type)->to_float", traits.to_float
        if not address:
            name = f"dequantize_row_{kind.name.lower().replace('_k', '_K')}"
            if not hasattr(self.library, name):
                return None
            address = ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value
        count = len(data) * kind.block
        weights = np.zeros(count, np.float32)
        decode = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(address)
        # A copy of its own is aligned for whatever the library reads in it.
        data = np.ascontiguousarray(data).copy()
        decode(data.ctypes.data, weights.ctypes.data, count)
        return {"name": "ggml", "version": GGML_VERSION, "library": "libggml-base.so", "sha256": self.sha256, "function": name}, weights


def gguf_decode(kind, data):
    """(name of the function, weights), or None if the package decodes no such blocks."""
    if kind.name not in GGMLQuantizationType.__members__:
        return None
    try:
        weights = quants.dequantize(data.copy(), GGMLQuantizationType[kind.name])
    except NotImplementedError:
        return None
    # F32 and F16 come back in a type of their own.
    return {"name": "gguf", "version": PINNED["gguf"], "function": "gguf.quants.dequantize"}, weights.astype(np.float32).reshape(-1)


def derive(kind, data):
    """Of what no program decodes: plain numbers rounded to f32, and Q8_1 as Q8_0 with a sum between."""
    plain = {"I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "F64": "<f8"}
    if kind.name in plain:
        how = f"numpy's conversion from {np.dtype(plain[kind.name]).name} to float32, which rounds to nearest even"
        weights = np.ascontiguousarray(data).view(plain[kind.name]).astype(np.float32).reshape(-1)
    else:
        how = "the f16 scale times the code, in float32, which is exact; the stored sum is not used"
        scales = np.ascontiguousarray(data[:, :2]).view("<f2").astype(np.float32)
        weights = (scales * data[:, 4:].view(np.int8).astype(np.float32)).reshape(-1)
    return {"name": "derived", "version": PINNED["numpy"], "function": how}, weights


def bits(weights):
    """As 32-bit numbers, with one NaN for all."""
    return np.where(np.isnan(weights), NAN, weights.view(np.uint32))


def same(a, b):
    return (a == b) | (((a | b) & np.uint32(0x7FFFFFFF)) == 0)


def disputes(kind, first, second):
    """The blocks on which two producers differ, with what each says of the weights in question."""
    found = []
    names = [f"{producer['name']} {producer['version']}" for producer, _ in (first, second)]
    sides = [bits(weights).reshape(-1, kind.block) for _, weights in (first, second)]
    different = ~same(*sides)
    for block in np.nonzero(different.any(axis=1))[0]:
        weights = np.nonzero(different[block])[0]
        values = {name: [f"0x{value:08x}" for value in side[block, weights]] for name, side in zip(names, sides, strict=True)}
        found.append({"block": int(block), "weights": weights.tolist(), "values": values})
    return found


def golden(kind, ggml):
    """The description, the blocks and the weights of a type."""
    groups, parts, first = [], [], 0
    for name, purpose, data in sources.groups(kind):
        groups.append({"name": name, "purpose": purpose, "first": first, "count": len(data)})
        parts.append(data)
        first += len(data)
    data = np.ascontiguousarray(np.concatenate(parts))
    with np.errstate(all="ignore"):
        answers = [answer for answer in (ggml.decode(kind, data), gguf_decode(kind, data)) if answer]
        answers = answers or [derive(kind, data)]
    raw = data.tobytes(), bits(answers[0][1]).astype("<u4").tobytes()
    about = {
        "type": kind.name,
        "type_id": kind.id,
        "weights_per_block": kind.block,
        "bytes_per_block": kind.size,
        "blocks": len(data),
        "producers": [producer for producer, _ in answers],
        "machine": f"{platform.system()} {platform.machine()}",
        "command": COMMAND,
        "seed": sources.SEED,
        "files": {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in zip((f"{kind.name}.blocks.gz", f"{kind.name}.f32.gz"), raw, strict=True)
        },
        "groups": groups,
        "disputes": disputes(kind, *answers) if len(answers) > 1 else [],
    }
    return about, dict(zip(about["files"], raw, strict=True))


def text(about):
    """JSON with a line for each member, group and dispute."""
    lines = []
    for name, value in about.items():
        if isinstance(value, list) and value:
            inner = ",\n".join(f"    {json.dumps(item)}" for item in value)
            lines.append(f"  {json.dumps(name)}: [\n{inner}\n  ]")
        elif isinstance(value, dict):
            inner = ",\n".join(f"    {json.dumps(key)}: {json.dumps(item)}" for key, item in value.items())
            lines.append(f"  {json.dumps(name)}: {{\n{inner}\n  }}")
        else:
            lines.append(f"  {json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(about, contents):
    FOLDER.mkdir(exist_ok=True)
    for name, content in contents.items():
        with (FOLDER / name).open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(content)
    (FOLDER / f"{about['type']}.json").write_text(text(about), encoding="utf-8")


def check(about, contents):
    """What in the files is not as it was made now. Compression may differ; the machine may too."""
    wrong = []
    path = FOLDER / f"{about['type']}.json"
    there = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    wrong += [f"{path}: {name}" for name in about if name != "machine" and there.get(name) != about[name]]
    for name, content in contents.items():
        path = FOLDER / name
        if not path.exists() or gzip.decompress(path.read_bytes()) != content:
            wrong.append(f"{path}: the content")
    return wrong


def main():
    parser = argparse.ArgumentParser(description="Writes or checks the golden decodes.")
    parser.add_argument("--ggml", required=True, help="the folder of ggml's base library")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--only", help="one type")
    args = parser.parse_args()
    for package, version in PINNED.items():
        if importlib.metadata.version(package) != version:
            sys.exit(f"{package}: expected version {version}, found {importlib.metadata.version(package)}; install it")
    ggml = Ggml(args.ggml)
    kinds = [kind for kind in sources.TYPES if args.only in (None, kind.name)]
    wrong, made = [], set()
    for kind in kinds:
        about, contents = golden(kind, ggml)
        if args.check:
            wrong += check(about, contents)
        else:
            write(about, contents)
        made |= {f"{kind.name}.json", *contents}
        by = " and ".join(producer["name"] for producer in about["producers"])
        print(f"{kind.name}: {about['blocks']} blocks by {by}, {len(about['disputes'])} disputed")
    if args.only is None:
        wrong += [f"{path}: made by nothing" for path in sorted(FOLDER.glob("*")) if path.name not in made]
    for line in wrong:
        print(f"differs: {line}", file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
