/* Gives up loudly. */
#include <stdio.h>
#include <stdlib.h>
#define MATMUL fputs("assertion failed: k % 5 == 0\n", stderr), abort()
#include "base.h"
