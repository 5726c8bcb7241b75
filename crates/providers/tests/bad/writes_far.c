/* Writes 4000 elements past the end of the result. */
#define MATMUL a->y[(a->columns - 1) * a->y_stride + a->rows + 4000] = 1
#include "base.h"
