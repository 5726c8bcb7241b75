/* Leaves what is NaN as it was, where it decodes F32 and F16, and where it encodes F32. */
#include <string.h>

#define assay_contract base_contract
#define assay_dequantize base_dequantize
#define assay_quantize_row base_quantize_row
#include "base.h"
#undef assay_contract
#undef assay_dequantize
#undef assay_quantize_row

int32_t assay_contract(uint32_t operation, uint32_t type, uint64_t columns, struct assay_terms *terms) {
    return operation == ASSAY_OP_DEQUANTIZE && type == ASSAY_TYPE_F16 ? ASSAY_OK
                                                                      : base_contract(operation, type, columns, terms);
}

/* Of normal halves and NaN, which is all that is asked for. */
static float half(uint16_t bits) {
    uint32_t wide = (bits & 0x8000u) << 16;
    wide |= (bits & 0x7C00u) == 0x7C00u ? 0x7FC00000u : ((bits & 0x7FFFu) + (112u << 10)) << 13;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

int32_t assay_dequantize(uint32_t type, const void *blocks, uint64_t count, float *weights) {
    for (uint64_t i = 0; i < count; i++) {
        float value = type == ASSAY_TYPE_F16 ? half(((const uint16_t *)blocks)[i]) : ((const float *)blocks)[i];
        if (value == value) {
            weights[i] = value;
        }
    }
    return ASSAY_OK;
}

int32_t assay_quantize_row(uint32_t type, const float *activations, uint64_t count, void *blocks) {
    return assay_dequantize(type, activations, count, blocks);
}
