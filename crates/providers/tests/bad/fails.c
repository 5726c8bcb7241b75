/* Fails politely. */
#define MATMUL return 7
#include "base.h"
