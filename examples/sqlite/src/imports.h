/* What the component calls. */
#ifndef IMPORTS_H
#define IMPORTS_H

#include "blocks.h"
#include "lock.h"
#include "portals.h"
#include "threads.h"

enum {
    PORTALS = CAIRN_PORTAL_FIRST_IMPORT,
    THREADS = PORTALS + PORTALS_METHODS,
    BLOCKS = THREADS + THREADS_METHODS,
};

#endif
