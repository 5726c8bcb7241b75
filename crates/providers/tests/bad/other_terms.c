/* Promises something else every time it is asked for its contract with several columns. */
#define TERMS if (columns > 1) { static unsigned asked; terms->accumulator = asked++ % 2 ? 2 : 0; }
#include "base.h"
