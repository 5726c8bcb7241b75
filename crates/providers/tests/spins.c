/* Calls itself by the number of its process, and spins with every signal blocked. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const char *number(void) {
    static char text[32];
    snprintf(text, sizeof text, "%ld", (long)getpid());
    return text;
}

static void spin(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (volatile int i = 0;; i++) {
    }
}

#define NAME number()
#define MATMUL spin()
#include "bad/base.h"
