/* Lets a file grow past what is allowed, which is refused to it, and is right otherwise. */
#include <stdio.h>
#define MATMUL FILE *f = tmpfile(); if (!f || fseek(f, 1L << 30, SEEK_SET) || fputc(1, f) != 1 || !fflush(f)) return 7
#include "base.h"
