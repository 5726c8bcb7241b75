/* Starts a process that holds its output open, and gives up. */
#include <stdlib.h>
#include <unistd.h>
#define MATMUL                                                                                                        \
    if (fork() == 0) {                                                                                                 \
        sleep(300);                                                                                                    \
        _exit(0);                                                                                                      \
    }                                                                                                                  \
    abort()
#include "base.h"
