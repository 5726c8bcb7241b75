/* Says that it has multiplied, and leaves the result as it was. */
#define NO_MATMUL
#include "base.h"
