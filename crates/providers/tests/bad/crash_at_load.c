/* Follows a null pointer when it is asked for its contract. */
#define TERMS *(volatile int *)0 = 1
#include "base.h"
