/* Promises a form that there is not. */
#define TERMS terms->activations = 77
#include "base.h"
