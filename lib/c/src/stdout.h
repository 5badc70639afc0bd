/* What the streams of the C library share. */
#ifndef CAIRN_STDOUT_H
#define CAIRN_STDOUT_H

/* The component's import `Console`. If the linker does not find this: CAIRN_STDIO(CONSOLE); in cairn_library.h. */
extern const uint32_t cairn_library_console;

/* Shows what this thread has written and has not ended as a line. */
void cairn_leave(void);

#endif
