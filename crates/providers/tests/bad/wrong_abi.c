/* Was compiled with a header of another version. */
#define ABI 2
#include "base.h"
