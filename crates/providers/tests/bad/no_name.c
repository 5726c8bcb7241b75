/* Has no name. */
#define NAME "two\nlines"
#include "base.h"
