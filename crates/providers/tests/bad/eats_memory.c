/* Takes memory until there is none, and does not look at what it gets. */
#include <stdlib.h>
#define MATMUL for (;;) *(volatile char *)malloc((size_t)1 << 26) = 1
#include "base.h"
