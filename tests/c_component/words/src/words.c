/* Calls and serves methods with a value of several words: it answers what it is answered itself. */
#include "memory_statistics.h"
#include "names.h"

/* Its arguments, and the number for which it answers them. */
enum { SHIFT, TITLE };
enum { ARGUMENTS = 0xfffe };

enum { NAMES = CAIRN_PORTAL_FIRST_IMPORT };

MEMORY_STATISTICS_SERVER(words)

/* What the first name of all is: its length, and the position of the next. */
struct cairn_wide_reply words_usage(uint64_t control)
{
    return words_usage_of(control, 0);
}

/* The same from a position on. */
struct cairn_wide_reply words_usage_of(uint64_t control, uint64_t position)
{
    (void)control;
    if (position == ARGUMENTS) {
        const char *title;
        size_t length = cairn_argument_text(TITLE, &title);
        return (struct cairn_wide_reply){ 0, { cairn_argument(SHIFT), length << 8 | (uint8_t)title[length - 1] } };
    }
    char text[64];
    uint64_t value[2];
    int64_t status = names_list(NAMES, position, text, sizeof text, value);
    if (status != 0)
        return (struct cairn_wide_reply){ .status = status };
    return (struct cairn_wide_reply){ 0, { value[0], value[1] } };
}

/* A value of four words: the two that came, and both once more. */
struct cairn_wide_reply words_measure(uint64_t control, uint64_t instance, uint64_t at)
{
    (void)control;
    return (struct cairn_wide_reply){ 0, { instance, at, instance, at } };
}

CAIRN_COMPONENT(
    .name = "c-words",
    .import_count = 1,
    .imports = { { "names", NAMES, NAMES_INTERFACE } },
    .arguments = { { "shift", CAIRN_ARGUMENT_UNSIGNED }, { "title", CAIRN_ARGUMENT_TEXT } },
    .export_count = 1,
    .exports = { { "statistics", 0, MEMORY_STATISTICS_INTERFACE, MEMORY_STATISTICS_ENTRIES(words) } });
