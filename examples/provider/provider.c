/*
 * Kernels behind Assay's C interface: F32, Q4_0 and Q8_0, one weight at a time.
 * docs/write-a-provider.md begins with it.
 *
 *   cc -std=c11 -O2 -shared -fPIC -I crates/providers/include -o target/provider.so examples/provider/provider.c
 */
#include "assay_kernels.h"

#include <string.h>

/* The value of a binary16: shifted into a binary32, whose exponent is 112 larger. */
static float half(const uint8_t *bytes) {
    uint32_t bits = bytes[0] | (uint32_t)bytes[1] << 8;
    uint32_t sign = (bits & 0x8000u) << 16, magnitude = (bits & 0x7fffu) << 13;
    float value;
    if (magnitude >= 0x0f800000u) {
        magnitude |= 0x7f800000u; /* infinity or NaN */
        memcpy(&value, &magnitude, 4);
    } else {
        memcpy(&value, &magnitude, 4);
        value *= 0x1p112f; /* subnormals come out right, too */
    }
    return sign ? -value : value;
}

/* Weights a block and bytes a block; 0 for types that are not known here. */
static uint64_t block_of(uint32_t type, uint64_t *bytes) {
    switch (type) {
    case ASSAY_TYPE_F32: *bytes = 4; return 1;
    case ASSAY_TYPE_Q4_0: *bytes = 18; return 32;
    case ASSAY_TYPE_Q8_0: *bytes = 34; return 32;
    default: return 0;
    }
}

/* Weight number i of a row. */
static float weight(uint32_t type, const uint8_t *row, uint64_t i) {
    float value;
    if (type == ASSAY_TYPE_F32) {
        memcpy(&value, row + 4 * i, 4);
        return value;
    }
    if (type == ASSAY_TYPE_Q8_0) {
        const uint8_t *block = row + i / 32 * 34;
        return half(block) * (float)(int8_t)block[2 + i % 32];
    }
    const uint8_t *block = row + i / 32 * 18; /* Q4_0: the first 16 codes are the low nibbles */
    uint8_t pair = block[2 + i % 16];
    return half(block) * (float)((i % 32 < 16 ? pair & 15 : pair >> 4) - 8);
}

static float product(uint32_t type, const uint8_t *row, const float *x, uint64_t k) {
    float sum = 0;
    for (uint64_t i = 0; i < k; i++) {
        sum += weight(type, row, i) * x[i];
    }
    return sum;
}

uint32_t assay_kernels_abi(void) {
    return ASSAY_KERNELS_ABI;
}

const char *assay_kernels_name(void) {
    return "example in C";
}

int32_t assay_contract(uint32_t operation, uint32_t type, uint64_t columns, struct assay_terms *terms) {
    uint64_t bytes;
    (void)columns;
    if (!block_of(type, &bytes) || operation == ASSAY_OP_QUANTIZE_ROW) {
        return ASSAY_UNSUPPORTED;
    }
    /* Exact weights, activations as they are, sums in binary32: the terms are all zero. And each element is one sum
       in one order, whatever else is computed with it. */
    terms->flags = ASSAY_BATCH_INVARIANT | ASSAY_SPLIT_INVARIANT | ASSAY_REPEATABLE;
    return ASSAY_OK;
}

int32_t assay_dequantize(uint32_t type, const void *blocks, uint64_t count, float *weights) {
    for (uint64_t i = 0; i < count; i++) {
        weights[i] = weight(type, blocks, i);
    }
    return ASSAY_OK;
}

int32_t assay_quantize_row(uint32_t type, const float *activations, uint64_t count, void *blocks) {
    (void)type, (void)activations, (void)count, (void)blocks;
    return ASSAY_UNSUPPORTED;
}

int32_t assay_dot(uint32_t type, const void *weights, const float *activations, uint64_t count, float *result) {
    *result = product(type, weights, activations, count);
    return ASSAY_OK;
}

int32_t assay_matmul(const struct assay_matmul_args *a) {
    const uint8_t *weights = a->weights;
    for (uint64_t c = 0; c < a->columns; c++) {
        for (uint64_t r = 0; r < a->rows; r++) {
            a->y[c * a->y_stride + r] = product(a->type, weights + r * a->row_stride, a->x + c * a->x_stride, a->k);
        }
    }
    return ASSAY_OK;
}
