/* Round trips of a byte between two processes through sockets. */
#include "measure.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

/* This end, and the other process'. */
static int here, there;

static void answer(void)
{
    char byte;
    while (read(there, &byte, 1) == 1 && write(there, &byte, 1) == 1) {
    }
}

static void ask(void)
{
    char byte = 1;
    EXPECT(write(here, &byte, 1) == 1);
    EXPECT(read(here, &byte, 1) == 1);
}

static void measure(const char *name)
{
    pid_t other = start(answer);
    ROW(name, 1, SAMPLES, ask());
    end(other);
    close(here);
    close(there);
}

/* A socket with an address on the loopback device. */
static int bound(int type, struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int made = socket(AF_INET, type, 0);
    *address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    EXPECT(made >= 0 && bind(made, (struct sockaddr *)address, size) == 0);
    EXPECT(getsockname(made, (struct sockaddr *)address, &size) == 0);
    return made;
}

static void without_delay(int tcp)
{
    int yes = 1;
    EXPECT(setsockopt(tcp, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0);
}

void measure_sockets(void)
{
    struct sockaddr_in mine, others;
    int pair[2], listening;

    EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    here = pair[0];
    there = pair[1];
    measure("unix");

    here = bound(SOCK_DGRAM, &mine);
    there = bound(SOCK_DGRAM, &others);
    EXPECT(connect(here, (struct sockaddr *)&others, sizeof others) == 0);
    EXPECT(connect(there, (struct sockaddr *)&mine, sizeof mine) == 0);
    measure("udp");

    listening = bound(SOCK_STREAM, &others);
    EXPECT(listen(listening, 1) == 0);
    here = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(here >= 0 && connect(here, (struct sockaddr *)&others, sizeof others) == 0);
    there = accept(listening, NULL, NULL);
    EXPECT(there >= 0);
    close(listening);
    without_delay(here);
    without_delay(there);
    measure("tcp");
}
