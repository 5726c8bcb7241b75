/* Writes to the weights. */
#define MATMUL ((volatile float *)(uintptr_t)a->weights)[1] = 1
#include "base.h"
