/* Waits for what never comes. */
#define MATMUL for (volatile int i = 0;; i++) {}
#include "base.h"
