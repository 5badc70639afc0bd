/* Debian's build makes this: the machine's part of paths, which nothing here looks into. */
#define DEB_HOST_MULTIARCH "cairn"
