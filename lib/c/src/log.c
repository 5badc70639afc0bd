/* Records in the ring of this instance's log. What is where says abi/src/log.rs; lib/cairn/src/log/ring.rs writes the
 * same in Rust, and reads it. */
#include "cairn_log.h"

#include <stdarg.h>
#include <stdio.h>

/* Most bytes of a record's text beside its target. */
enum { LINE = CAIRN_LOG_TEXT_MAXIMUM - CAIRN_LOG_TARGET_MAXIMUM };

struct line {
    FILE stream; /* The first member: the C library hands its address to `put`. */
    enum cairn_log_level level;
    const char *target;
    size_t length;
    char text[LINE];
};

/* Writes the line as a record, over the oldest ones. */
static void write_record(struct line *line)
{
    uint64_t words = cairn_startup()->log_words, *ring = cairn_log_ring();
    if (words < CAIRN_LOG_RECORDS + CAIRN_LOG_RECORD_WORDS + CAIRN_LOG_TEXT_MAXIMUM / 8)
        return;
    uint64_t size = words - CAIRN_LOG_RECORDS;
    uint64_t *records = ring + CAIRN_LOG_RECORDS;
    uint64_t text[CAIRN_LOG_TEXT_MAXIMUM / 8] = { 0 };
    size_t target = strnlen(line->target, CAIRN_LOG_TARGET_MAXIMUM), length = target + line->length;
    memcpy(text, line->target, target);
    memcpy((char *)text + target, line->text, line->length);
    size_t text_words = (length + 7) / 8;

    uint64_t place =
        __atomic_fetch_add(ring + CAIRN_LOG_BEGUN, CAIRN_LOG_RECORD_WORDS + text_words, __ATOMIC_RELAXED);
    /* A reader that finds a word of this record finds the count behind it as well. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(records + (place + 1) % size, cairn_ticks(), __ATOMIC_RELAXED);
    for (size_t word = 0; word < text_words; word++)
        __atomic_store_n(records + (place + CAIRN_LOG_RECORD_WORDS + word) % size, text[word], __ATOMIC_RELAXED);
    uint64_t head = place << CAIRN_LOG_PLACE_SHIFT | length << 16 | target << 8 | line->level;
    __atomic_store_n(records + place % size, head, __ATOMIC_RELEASE);
}

static void end(struct line *line)
{
    if (line->length > 0)
        write_record(line);
    line->length = 0;
}

static int put(char byte, FILE *stream)
{
    struct line *line = (struct line *)stream;
    if (byte == '\n' || line->length == LINE)
        end(line);
    if (byte != '\n')
        line->text[line->length++] = byte;
    return (unsigned char)byte;
}

void cairn_log_write(enum cairn_log_level level, const char *target, const char *format, ...)
{
    struct line line;
    line.stream = (FILE)FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
    line.level = level;
    line.target = target;
    line.length = 0;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(&line.stream, format, arguments);
    va_end(arguments);
    end(&line);
}
