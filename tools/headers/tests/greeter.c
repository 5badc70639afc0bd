/* A component that uses and serves everything that headers offer. */
#include "block_device.h"
#include "echo.h"
#include <string.h>

enum { ECHO = CAIRN_PORTAL_FIRST_IMPORT, DISK = ECHO + ECHO_METHODS };

ECHO_SERVER(greeter)

static char said[64];

struct cairn_reply greeter_add(uint64_t control, uint64_t left, uint64_t right)
{
    (void)control;
    return (struct cairn_reply){ 0, left + right };
}

struct cairn_reply greeter_say(uint64_t control, const volatile void *bytes1, size_t length1)
{
    (void)control;
    if (length1 >= sizeof said)
        return (struct cairn_reply){ CAIRN_ERROR_TOO_LARGE, 0 };
    cairn_copy_in(said, bytes1, length1);
    said[length1] = 0;
    return (struct cairn_reply){ 0, 0 };
}

struct cairn_reply greeter_fill(uint64_t control, volatile void *bytes1, size_t length1)
{
    (void)control;
    size_t count = strlen(said) < length1 ? strlen(said) : length1;
    cairn_copy_out(bytes1, said, count);
    return (struct cairn_reply){ 0, count };
}

BLOCK_DEVICE_SERVER(disk)

struct cairn_wide_reply disk_packed(uint64_t control, uint64_t word1)
{
    (void)control;
    return (struct cairn_wide_reply){ 0, { 1, 2, 3, word1 } };
}

cairn_entry greeter_wide(void);
cairn_entry greeter_wide(void)
{
    return (cairn_entry)disk_packed_wide;
}

static void greet(void)
{
    uint64_t sum = 0;
    bool flag = false;
    uint64_t place = UINT64_C(1) << 16 | 40;
    char buffer[16];
    if (echo_add(ECHO, 3, 4, &sum) == 0 && sum == 7)
        echo_say(ECHO, "hello", 5);
    if (block_device_bytes(DISK, "a", 1, buffer, sizeof buffer, "b", 1, &flag) != 0 || flag)
        block_device_nothing(DISK, buffer, sizeof buffer);
    uint64_t words[4];
    if (block_device_packed(DISK, 3, words) == 0 && words[3] == 0)
        words[0]++;
    if (block_device_object(DISK, place, 1) == 0)
        block_device_nothing(cairn_place_portal(place), buffer, sizeof buffer);
}

CAIRN_COMPONENT(
    .name = "greeter",
    .main = greet,
    .import_count = 2,
    .imports = { { "echo", ECHO, ECHO_INTERFACE }, { "disk", DISK, BLOCK_DEVICE_INTERFACE } },
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(greeter) } });
