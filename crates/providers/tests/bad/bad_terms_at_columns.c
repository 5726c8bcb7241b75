/* Promises a form that there is not when it is asked for its contract with several columns. */
#define TERMS if (columns > 1) terms->activations = 77
#include "base.h"
