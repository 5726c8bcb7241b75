/* Writes one element before the start of the result. */
#define MATMUL a->y[-1] = 1
#include "base.h"
