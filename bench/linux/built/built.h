/* A small program of several files, which the benchmark has compiled. */
#ifndef BUILT_H
#define BUILT_H

void say(const char *text, unsigned long count);

/* A number of a sequence that is the same each time. */
unsigned next_random(unsigned *state);

void sort(unsigned *numbers, unsigned count);

struct tree {
    struct tree *less, *more;
    unsigned number;
};

/* Puts a number into a tree, at a place that is given for it, if it is not there yet; whether it was. */
int insert(struct tree **root, struct tree *place, unsigned number);
unsigned depth(const struct tree *root);

/* What the program does; 0 if all of it is right. */
int run(void);

#endif
