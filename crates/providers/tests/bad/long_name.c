/* Has a name of 101 bytes. */
#define TEN "0123456789"
#define NAME TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "!"
#include "base.h"
