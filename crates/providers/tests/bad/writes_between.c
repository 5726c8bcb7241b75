/* Writes between two columns of the result. */
#define MATMUL a->y[a->rows] = 1
#include "base.h"
