/* Reads 20000 bytes before the start of the weights. */
#define MATMUL (void)((const volatile uint8_t *)a->weights)[-20000]
#include "base.h"
