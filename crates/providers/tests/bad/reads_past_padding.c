/* Reads one byte more than its contract names. */
#define TERMS terms->reads_past = 16
#define MATMUL (void)((const volatile uint8_t *)a->weights)[(a->rows - 1) * a->row_stride + 4 * a->k + 16]
#include "base.h"
