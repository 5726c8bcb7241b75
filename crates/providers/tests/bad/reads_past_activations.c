/* Reads one element past the end of the activations. */
#define MATMUL (void)((const volatile float *)a->x)[(a->columns - 1) * a->x_stride + a->k]
#include "base.h"
