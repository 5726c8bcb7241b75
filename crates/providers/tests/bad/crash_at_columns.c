/* Follows a null pointer when it is asked for its contract with several columns. */
#define TERMS if (columns > 1) *(volatile int *)0 = 1
#include "base.h"
