/* A provider that does nothing wrong, of F32 alone: each program here changes one thing. */
#include "assay_kernels.h"

#ifndef ABI
#define ABI ASSAY_KERNELS_ABI
#endif
#ifndef NAME
#define NAME "base"
#endif
#ifndef TERMS
#define TERMS
#endif
#ifndef MATMUL
#define MATMUL
#endif
#ifndef DOT
#define DOT
#endif
#ifndef DEQUANTIZE
#define DEQUANTIZE
#endif

uint32_t assay_kernels_abi(void) {
    return ABI;
}

const char *assay_kernels_name(void) {
    return NAME;
}

int32_t assay_contract(uint32_t operation, uint32_t type, uint64_t columns, struct assay_terms *terms) {
    (void)operation, (void)columns, (void)terms;
    if (type != ASSAY_TYPE_F32) {
        return ASSAY_UNSUPPORTED;
    }
    TERMS;
    return ASSAY_OK;
}

int32_t assay_dequantize(uint32_t type, const void *blocks, uint64_t count, float *weights) {
    (void)type;
    for (uint64_t i = 0; i < count; i++) {
        weights[i] = ((const float *)blocks)[i];
    }
    DEQUANTIZE;
    return ASSAY_OK;
}

int32_t assay_quantize_row(uint32_t type, const float *activations, uint64_t count, void *blocks) {
    return assay_dequantize(type, activations, count, blocks);
}

static float product(const float *w, const float *x, uint64_t k) {
    float sum = 0;
    for (uint64_t i = 0; i < k; i++) {
        sum += w[i] * x[i];
    }
    return sum;
}

#ifndef NO_DOT
int32_t assay_dot(uint32_t type, const void *weights, const float *activations, uint64_t count, float *result) {
    (void)type;
#ifdef DOT_WRITES_NOTHING
    (void)weights, (void)activations, (void)count, (void)result, (void)product;
#else
    *result = product(weights, activations, count);
#endif
    DOT;
    return ASSAY_OK;
}
#endif

int32_t assay_matmul(const struct assay_matmul_args *a) {
#ifdef NO_MATMUL
    (void)a;
    return ASSAY_OK;
#endif
    for (uint64_t c = 0; c < a->columns; c++) {
        for (uint64_t r = 0; r < a->rows; r++) {
            const float *row = (const float *)((const uint8_t *)a->weights + r * a->row_stride);
            a->y[c * a->y_stride + r] = product(row, a->x + c * a->x_stride, a->k);
        }
    }
    MATMUL;
    return ASSAY_OK;
}
