/* Reads one byte past the end of the weights. */
#define MATMUL (void)((const volatile uint8_t *)a->weights)[(a->rows - 1) * a->row_stride + 4 * a->k]
#include "base.h"
