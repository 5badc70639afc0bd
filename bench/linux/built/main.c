/* Sorts, plants a tree, looks for primes, and is right each time. */
#include "built.h"

#define COUNT 200
#define SIEVE 2000

static unsigned numbers[COUNT];
static struct tree places[COUNT];
static char is_composite[SIEVE];

static int sorts(void)
{
    unsigned state = 1, place;
    for (place = 0; place < COUNT; place++)
        numbers[place] = next_random(&state);
    sort(numbers, COUNT);
    for (place = 1; place < COUNT; place++)
        if (numbers[place - 1] > numbers[place])
            return 0;
    return 1;
}

static int plants(void)
{
    struct tree *root = 0;
    unsigned state = 7, place, planted = 0, deep;
    for (place = 0; place < COUNT; place++)
        planted += insert(&root, &places[planted], next_random(&state));
    deep = depth(root);
    return planted == COUNT && deep >= 8 && deep < 40;
}

static int finds_primes(void)
{
    unsigned number, multiple, primes = 0;
    for (number = 2; number < SIEVE; number++) {
        if (is_composite[number])
            continue;
        primes++;
        for (multiple = number * number; multiple < SIEVE; multiple += number)
            is_composite[multiple] = 1;
    }
    return primes == 303;
}

static const struct {
    const char *name;
    unsigned length;
    int (*does)(void);
} parts[] = { { "sort", 4, sorts }, { "tree", 4, plants }, { "primes", 6, finds_primes } };

int run(void)
{
    unsigned part, wrong = 0;
    for (part = 0; part < sizeof parts / sizeof parts[0]; part++)
        if (!parts[part].does()) {
            say(parts[part].name, parts[part].length);
            say(" is wrong\n", 10);
            wrong++;
        }
    return (int)wrong;
}
