/* Reads what its contract names past the end of the weights, which is right. */
#define TERMS terms->reads_past = 16
#define MATMUL (void)((const volatile uint8_t *)a->weights)[(a->rows - 1) * a->row_stride + 4 * a->k + 15]
#include "base.h"
