/* Numbers, an order of them, a tree. */
#include "built.h"

unsigned next_random(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void swap(unsigned *first, unsigned *second)
{
    unsigned number = *first;
    *first = *second;
    *second = number;
}

static void sink(unsigned *heap, unsigned place, unsigned count)
{
    for (;;) {
        unsigned child = 2 * place + 1;
        if (child >= count)
            return;
        if (child + 1 < count && heap[child + 1] > heap[child])
            child++;
        if (heap[place] >= heap[child])
            return;
        swap(&heap[place], &heap[child]);
        place = child;
    }
}

void sort(unsigned *numbers, unsigned count)
{
    unsigned place;
    for (place = count / 2; place-- > 0;)
        sink(numbers, place, count);
    while (count > 1) {
        swap(&numbers[0], &numbers[--count]);
        sink(numbers, 0, count);
    }
}

int insert(struct tree **root, struct tree *place, unsigned number)
{
    while (*root) {
        if ((*root)->number == number)
            return 0;
        root = number < (*root)->number ? &(*root)->less : &(*root)->more;
    }
    place->less = place->more = 0;
    place->number = number;
    *root = place;
    return 1;
}

unsigned depth(const struct tree *root)
{
    unsigned less, more;
    if (!root)
        return 0;
    less = depth(root->less);
    more = depth(root->more);
    return 1 + (less > more ? less : more);
}
