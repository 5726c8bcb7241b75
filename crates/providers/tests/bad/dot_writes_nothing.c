/* Says that it has a dot, and leaves the result as it was. */
#define DOT_WRITES_NOTHING
#include "base.h"
