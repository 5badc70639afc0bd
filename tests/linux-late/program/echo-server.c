/* Serves `Echo`. */
#include <stdio.h>

#include "echo.h"

ECHO_SERVER(mine)

struct cairn_reply mine_add(uint64_t control, uint64_t left, uint64_t right)
{
    (void)control;
    return (struct cairn_reply){ 0, left + right };
}

struct cairn_reply mine_say(uint64_t control, const volatile void *text, size_t length)
{
    (void)control, (void)text, (void)length;
    return (struct cairn_reply){ 0, 0 };
}

struct cairn_reply mine_fill(uint64_t control, volatile void *buffer, size_t length)
{
    (void)control, (void)buffer, (void)length;
    return (struct cairn_reply){ 0, 0 };
}

static const cairn_entry entries[] = ECHO_ENTRIES(mine);

int main(void)
{
    printf("echo: %d\n", (int)cairn_serve("echo", "*", ECHO_VERSION, ECHO_LETTERS, entries));
    return 1;
}
