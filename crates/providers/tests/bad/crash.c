/* Follows a null pointer. */
#define MATMUL *(volatile int *)0 = 1
#include "base.h"
