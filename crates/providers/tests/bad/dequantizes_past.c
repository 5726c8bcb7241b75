/* Writes one weight too many. */
#define DEQUANTIZE weights[count] = 1
#include "base.h"
