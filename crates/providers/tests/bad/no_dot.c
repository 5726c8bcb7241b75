/* Lacks a required function. */
#define NO_DOT
#include "base.h"
