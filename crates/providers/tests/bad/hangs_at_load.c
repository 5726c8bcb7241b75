/* Waits for what never comes when it is asked for its contract. */
#define TERMS for (volatile int i = 0;; i++) {}
#include "base.h"
