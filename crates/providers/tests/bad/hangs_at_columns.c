/* Waits for what never comes when it is asked for its contract with several columns. */
#define TERMS for (volatile int i = 0; columns > 1; i++) {}
#include "base.h"
