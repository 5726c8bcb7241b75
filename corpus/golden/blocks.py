"""The blocks that are decoded: drawn ones, and the edges of every type.

Written from the structures of `ggml-common.h`. A *place* is where one small number lies in a block: a list of
(first bit, number of bits), low bits first. Bit b is bit b % 8 of byte b // 8.
"""

import numpy as np

SEED = 20250
HALF_ONE, SINGLE_ONE = 0x3C00, 0x3F800000
# By magnitude: zero, the subnormals, the normals, infinity, a signalling and a quiet NaN; then the same negative.
HALVES = [0, 1, 0x3FF, 0x400, HALF_ONE, 0x7BFF, 0x7C00, 0x7C01, 0x7E00]
SINGLES = [0, 1, 0x7FFFFF, 0x800000, SINGLE_ONE, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000]
DOUBLES = [0, 1, 0xFFFFFFFFFFFFF, 1 << 52, 0x3FF << 52, 0x7FEFFFFFFFFFFFFF, 0x7FF << 52, 0x7FF0000000000001, 0x7FF8 << 48]
# Doubles about the edges of a single: the halves between two neighbours, the least that becomes infinite.
DOUBLES += [0x3FF0000010000000, 0x3FF0000030000000, 0x47EFFFFFEFFFFFFF, 0x47EFFFFFF0000000, 0x3690000000000000, 0x3690000000000001]


def both_signs(codes, bits):
    return codes + [code | 1 << (bits - 1) for code in codes]


def numbers(first_byte, count, bits=8):
    """So many numbers of so many bits, one after the other."""
    return [[(8 * first_byte + bits * i, bits)] for i in range(count)]


def whole(first_byte, count, size):
    return numbers(first_byte, count, 8 * size)


def joined(*lists):
    """Numbers of several pieces each, low bits first."""
    return [sum(parts, []) for parts in zip(*lists, strict=True)]


def six_bit_pairs(first_byte):
    """The eight pairs of scale and minimum, six bits each, of Q4_K and Q5_K."""
    at = 8 * first_byte
    low = [[(at + 8 * j, 6), (at + 8 * (j + 4), 6)] for j in range(4)]
    high = [
        [(at + 8 * (j + 4), 4), (at + 8 * (j - 4) + 6, 2), (at + 8 * (j + 4) + 4, 4), (at + 8 * j + 6, 2)]
        for j in range(4, 8)
    ]
    return low + high


class Type:
    """A tensor type: its size, its floating-point scales, and the places whose values are swept through."""

    def __init__(self, name, type_id, block, size, scales=(), **sweeps):
        self.name, self.id, self.block, self.size = name, type_id, block, size
        # (name, places, kind)
        self.scales = list(scales)
        self.sweeps = {name.replace("_", "-"): places for name, places in sweeps.items()}


def half(name, byte):
    return name, [(8 * byte, 16)], "half"


def q5_codes(high, low):
    nibbles = [[(8 * (low + i % 16) + 4 * (i // 16), 4)] for i in range(32)]
    return joined(nibbles, numbers(high, 32, 1))


def q3_k_codes():
    low = [[(8 * (32 + 32 * (i // 128) + i % 32) + 2 * (i % 128 // 32), 2)] for i in range(256)]
    high = [[(8 * (i % 32) + i // 32, 1)] for i in range(256)]
    return joined(low, high)


def q5_k_codes():
    low = [[(8 * (48 + 32 * (i // 64) + i % 32) + 4 * (i % 64 // 32), 4)] for i in range(256)]
    high = [[(8 * (16 + i % 32) + i // 32, 1)] for i in range(256)]
    return joined(low, high)


def q6_k_codes():
    low = [[(8 * (64 * (i // 128) + i % 64) + 4 * (i % 128 // 64), 4)] for i in range(256)]
    high = [[(8 * (128 + 32 * (i // 128) + i % 32) + 2 * (i % 128 // 32), 2)] for i in range(256)]
    return joined(low, high)


IQ2_XXS_WORDS = [8 * (2 + 8 * i + 4) for i in range(8)]
IQ3_XXS_WORDS = [8 * (66 + 4 * i) for i in range(8)]
IQ1_M_SCALE = "d", [(8 * (48 + 2 * i) + 12, 4) for i in range(4)], "half"

TYPES = [
    Type("F32", 0, 1, 4),
    Type("F16", 1, 1, 2, values=numbers(0, 1, 16)),
    Type("Q4_0", 2, 32, 18, [half("d", 0)], bytes=whole(2, 16, 1)),
    Type("Q4_1", 3, 32, 20, [half("d", 0), half("m", 2)], bytes=whole(4, 16, 1)),
    Type("Q5_0", 6, 32, 22, [half("d", 0)], bytes=whole(6, 16, 1), codes=q5_codes(2, 6)),
    Type("Q5_1", 7, 32, 24, [half("d", 0), half("m", 2)], bytes=whole(8, 16, 1), codes=q5_codes(4, 8)),
    Type("Q8_0", 8, 32, 34, [half("d", 0)], codes=whole(2, 32, 1)),
    Type("Q8_1", 9, 32, 36, [half("d", 0)], codes=whole(4, 32, 1)),
    Type("Q2_K", 10, 256, 84, [half("d", 80), half("dmin", 82)], pairs=whole(0, 16, 1), bytes=whole(16, 64, 1)),
    Type(
        "Q3_K", 11, 256, 110, [half("d", 108)], codes=q3_k_codes(), bytes=whole(32, 64, 1), masks=whole(0, 32, 1),
        sub_scales=[[(8 * (96 + j % 8) + 4 * (j // 8), 4), (8 * (104 + j % 4) + 2 * (j // 4), 2)] for j in range(16)],
    ),
    Type("Q4_K", 12, 256, 144, [half("d", 0), half("dmin", 2)], pairs=six_bit_pairs(4), bytes=whole(16, 128, 1)),
    Type("Q5_K", 13, 256, 176, [half("d", 0), half("dmin", 2)], pairs=six_bit_pairs(4), codes=q5_k_codes()),
    Type("Q6_K", 14, 256, 210, [half("d", 208)], sub_scales=whole(192, 16, 1), codes=q6_k_codes()),
    Type("Q8_K", 15, 256, 292, [("d", [(0, 32)], "single")], codes=whole(4, 256, 1)),
    Type(
        "IQ2_XXS", 16, 256, 66, [half("d", 0)],
        grid=[[(8 * (2 + 8 * i + j), 8)] for i in range(8) for j in range(4)],
        signs=[[(word + 7 * j, 7)] for word in IQ2_XXS_WORDS for j in range(4)],
        sub_scales=[[(word + 28, 4)] for word in IQ2_XXS_WORDS],
    ),
    Type(
        "IQ2_XS", 17, 256, 74, [half("d", 0)],
        grid=[[(8 * 2 + 16 * i, 9)] for i in range(32)],
        signs=[[(8 * 2 + 16 * i + 9, 7)] for i in range(32)],
        sub_scales=numbers(66, 16, 4),
    ),
    Type(
        "IQ3_XXS", 18, 256, 98, [half("d", 0)], grid=whole(2, 64, 1),
        signs=[[(word + 7 * j, 7)] for word in IQ3_XXS_WORDS for j in range(4)],
        sub_scales=[[(word + 28, 4)] for word in IQ3_XXS_WORDS],
    ),
    Type(
        "IQ1_S", 19, 256, 50, [half("d", 0)],
        grid=joined(whole(2, 32, 1), [[(8 * 34 + 16 * i + 3 * j, 3)] for i in range(8) for j in range(4)]),
        shifted_sub_scales=[[(8 * 34 + 16 * i + 12, 4)] for i in range(8)],
    ),
    Type("IQ4_NL", 20, 32, 18, [half("d", 0)], bytes=whole(2, 16, 1)),
    Type(
        "IQ3_S", 21, 256, 110, [half("d", 0)], grid=joined(whole(2, 64, 1), numbers(66, 64, 1)),
        signs=whole(74, 32, 1), sub_scales=numbers(106, 8, 4),
    ),
    Type(
        "IQ2_S", 22, 256, 82, [half("d", 0)], grid=joined(whole(2, 32, 1), numbers(66, 32, 2)),
        signs=whole(34, 32, 1), sub_scales=numbers(74, 16, 4),
    ),
    Type(
        "IQ4_XS", 23, 256, 136, [half("d", 0)], sub_scales=joined(numbers(4, 8, 4), numbers(2, 8, 2)),
        bytes=whole(8, 128, 1),
    ),
    Type("I8", 24, 1, 1, values=numbers(0, 1, 8)),
    Type("I16", 25, 1, 2),
    Type("I32", 26, 1, 4),
    Type("I64", 27, 1, 8),
    Type("F64", 28, 1, 8),
    Type(
        "IQ1_M", 29, 256, 56, [IQ1_M_SCALE],
        shifted_grid=joined(whole(0, 32, 1), numbers(32, 32, 4)),
        sub_scales=[[(8 * (48 + 2 * (i // 4)) + 3 * (i % 4), 3)] for i in range(16)],
    ),
    Type("BF16", 30, 1, 2, values=numbers(0, 1, 16)),
    Type("TQ1_0", 34, 256, 54, [half("d", 52)], bytes=whole(0, 48, 1), last_bytes=whole(48, 4, 1)),
    Type("TQ2_0", 35, 256, 66, [half("d", 64)], bytes=whole(0, 64, 1)),
    Type("MXFP4", 39, 32, 17, [("e", [(0, 8)], "byte")], bytes=whole(1, 16, 1)),
    Type("NVFP4", 40, 64, 36, [(f"d[{i}]", [(8 * i, 8)], "byte") for i in range(4)], bytes=whole(4, 32, 1)),
    Type("Q1_0", 41, 128, 18, [half("d", 0)], bytes=whole(2, 16, 1)),
    Type("Q2_0", 42, 64, 18, [half("d", 0)], bytes=whole(2, 16, 1)),
]

# What a sweep is for.
PURPOSES = {
    "sub-scales": "every sub-scale",
    "pairs": "every pair of sub-scale and sub-minimum",
    "shifted-sub-scales": "every sub-scale with both signs of the shift",
    "grid": "every index into the grid",
    "shifted-grid": "every index into the grid with both signs of the shift",
    "signs": "every pattern of signs",
    "codes": "every code",
    "bytes": "every byte of codes",
    "masks": "every byte of the high bits of codes",
    "last-bytes": "every byte of the codes that are packed four to a byte",
    "values": "every value there is",
}


def put(block, place, value):
    for first, bits in place:
        for bit in range(first, first + bits):
            mask = np.uint8(1 << bit % 8)
            block[bit // 8] = block[bit // 8] | mask if value & 1 else block[bit // 8] & ~mask
            value >>= 1


def width(place):
    return sum(bits for _, bits in place)


def one(kind):
    return {"half": HALF_ONE, "single": SINGLE_ONE, "byte": 127}[kind]


def ordinary(rng, kind):
    """A scale as models have them, of either sign."""
    sign = int(rng.integers(2))
    return {
        "half": sign << 15 | int(rng.integers(1 << 10, 15 << 10)),
        "single": sign << 31 | int(rng.integers(100 << 23, 130 << 23)),
        "byte": int(rng.integers(100, 127)),
    }[kind]


def settle(kind, blocks):
    """Stored sums agree with the codes (Q8_K, Q8_1)."""
    if kind.name == "Q8_K":
        sums = blocks[:, 4:260].view(np.int8).reshape(-1, 16, 16).sum(axis=2, dtype=np.int16)
        blocks[:, 260:] = sums.view(np.uint8).reshape(-1, 32)
    if kind.name == "Q8_1":
        sums = blocks[:, 4:].view(np.int8).sum(axis=1, dtype=np.int32)
        with np.errstate(all="ignore"):
            scaled = blocks[:, :2].copy().view("<f2").astype(np.float32)[:, 0] * sums.astype(np.float32)
            blocks[:, 2:4] = scaled.astype("<f2")[:, None].view(np.uint8)
    return blocks


def drawn(kind, rng, count, scale):
    """Blocks of random bits; scale(kind of scale) gives the scales, or None to leave them random."""
    blocks = rng.integers(0, 256, (count, kind.size), dtype=np.uint8)
    for block in blocks:
        for _, place, scale_kind in kind.scales:
            value = scale(scale_kind)
            if value is not None:
                put(block, place, value)
    return blocks


def ramps(kind, count):
    """Blocks in whose codes every small number occurs, alike in every stretch of 16 bytes, with scales of 1.

    They compress well, so that there can be many.
    """
    ramp = np.array([17 * (i % 16) for i in range(kind.size)], dtype=np.uint8)
    blocks = np.tile(ramp, (count, 1))
    for block in blocks:
        for _, place, scale_kind in kind.scales:
            put(block, place, one(scale_kind))
    return blocks


def swept(kind, places, rng):
    """As many blocks as it takes that every value stands in some place, the last ones filled from the first."""
    values = 1 << width(places[0])
    count = -(-values // len(places))
    blocks = ramps(kind, count) if values > 1024 else drawn(kind, rng, count, one)
    for i, block in enumerate(blocks):
        for j, place in enumerate(places):
            put(block, place, (i * len(places) + j) % values)
    return blocks


def scale_edges(kind, rng):
    """(name, purpose, blocks) of the floating-point scales at their edges."""
    byte_kinds = all(scale_kind == "byte" for _, _, scale_kind in kind.scales)
    if byte_kinds:
        blocks = ramps(kind, 256)
        for i, block in enumerate(blocks):
            for j, (_, place, _) in enumerate(kind.scales):
                put(block, place, (i + 64 * j) % 256)
        yield "scales", "every byte of scale", blocks
        return
    for name, place, scale_kind in kind.scales:
        codes = both_signs(HALVES, 16) if scale_kind == "half" else both_signs(SINGLES, 32)
        blocks = drawn(kind, rng, len(codes), one)
        for block, code in zip(blocks, codes, strict=True):
            put(block, place, code)
        others = ", the other scale 1" if len(kind.scales) > 1 else ""
        yield f"scale-{name}", f"{name} at the edges of its range, infinite and NaN{others}", blocks
    if len(kind.scales) > 1:
        codes = both_signs(HALVES, 16)
        blocks = drawn(kind, rng, len(codes), one)
        for block, code in zip(blocks, codes, strict=True):
            for _, place, _ in kind.scales:
                put(block, place, code)
        yield "scales", "all scales at the same edge", blocks


def plain(kind, rng):
    """The values of plain types, or of those that are too many, the edges and drawn ones."""
    if "values" in kind.sweeps:
        values = np.arange(1 << 8 * kind.size, dtype=f"<u{kind.size}")
        yield "values", PURPOSES["values"], values[:, None].view(np.uint8)
        return
    bits = 8 * kind.size
    if kind.name.startswith("F"):
        edges = both_signs(SINGLES if bits == 32 else DOUBLES, bits)
        yield "edges", "the edges of the range, infinity and NaN, and for F64 of what an f32 holds", edges
    else:
        # What is rounded: odd numbers of 25 bits and more, halves between two neighbours, and those beside them.
        powers = [1 << n for n in range(bits)]
        ties = [(1 << n) + (1 << (n - 24)) * k for n in range(24, bits - 1) for k in (1, 3)]
        near = {value + step for value in powers + ties for step in (-1, 0, 1)}
        yield "edges", "powers of two, halves between two f32, and their neighbours, of both signs", sorted(
            {value % (1 << bits) for value in near} | {-value % (1 << bits) for value in near}
        )
    if kind.name == "F64":
        # Within the range of f32, so that they are rounded.
        exponents = rng.integers(1023 - 155, 1023 + 130, 512, dtype=np.uint64) << np.uint64(52)
        signs = rng.integers(2, size=512, dtype=np.uint64) << np.uint64(63)
        drawn_values = exponents | signs | rng.integers(1 << 52, size=512, dtype=np.uint64)
        yield "random", "drawn from the range of f32", drawn_values.tolist()
    yield "any-bits", "any bits", [int.from_bytes(rng.bytes(kind.size), "little") for _ in range(512)]


def groups(kind):
    """(name, purpose, blocks as an array of rows) of a type."""
    # Each type has a stream of its own, so that a change of one leaves the others alone.
    rng = np.random.Generator(np.random.PCG64([SEED, kind.id]))
    if kind.block == 1:
        for name, purpose, values in plain(kind, rng):
            if isinstance(values, list):
                values = np.array(values, dtype=f"<u{kind.size}")[:, None].view(np.uint8)
            yield name, purpose, values
        return
    count = 32 if kind.block == 256 else 64
    made = [
        ("random", "drawn codes, scales as models have them", drawn(kind, rng, count, lambda k: ordinary(rng, k))),
        ("any-bits", "any bits, in the scales too", drawn(kind, rng, count, lambda _: None)),
        *scale_edges(kind, rng),
    ]
    made += [(name, PURPOSES[name], swept(kind, places, rng)) for name, places in kind.sweeps.items()]
    for name, purpose, blocks in made:
        yield name, purpose, settle(kind, blocks)
    if kind.name in ("Q8_K", "Q8_1"):
        blocks = drawn(kind, rng, 4, one)
        yield "contradicted-sums", "stored sums that are not those of the codes, which a decoder ignores", blocks
