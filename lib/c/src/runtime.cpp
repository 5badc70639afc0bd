// What compiled C++ calls.
#include "cairn.h"

extern "C" {

// A component does not end while somebody could see what its destructors did.
int __cxa_atexit(void (*)(void *), void *, void *)
{
    return 0;
}

void *__dso_handle;

void __cxa_pure_virtual()
{
    cairn_panic("a pure virtual function was called");
}
}
