/* Writes one element past the end of the result. */
#define MATMUL a->y[(a->columns - 1) * a->y_stride + a->rows] = 1
#include "base.h"
