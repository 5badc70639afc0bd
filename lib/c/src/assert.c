/* A failed `assert` is a panic that says which, as one in Rust does: file, line, expression. */
#include "cairn.h"

#include <assert.h>

/* Adds as much of `text` as fits; the end of the line stays zero. */
static void add(char *line, size_t size, const char *text)
{
    size_t used = strnlen(line, size - 1);
    strncpy(line + used, text, size - 1 - used);
}

void __assert_func(const char *file, int number, const char *function, const char *expression)
{
    char line[129] = { 0 }, digits[12] = { 0 };
    char *digit = digits + sizeof digits - 1;
    (void)function;
    do {
        *--digit = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    /* Of a long path the end is kept: it says more than the beginning. */
    size_t length = strlen(file);
    add(line, sizeof line, length > 48 ? file + length - 48 : file);
    add(line, sizeof line, ":");
    add(line, sizeof line, digit);
    add(line, sizeof line, ": assert(");
    add(line, sizeof line, expression);
    add(line, sizeof line, ")");
    cairn_panic(line);
}
