/* A call of another component and back, which the bare machine has none of. */
#include "measure.h"

#include "echo.h"

#include <unistd.h>

void measure_services(void)
{
    uint32_t echo = 0;
    uint64_t sum = 0;
    if (access("/dev/cairn", F_OK) != 0)
        return;
    EXPECT(cairn_open("greeter.echo", ECHO_VERSION, ECHO_LETTERS, &echo) == 0);
    ROW("service.call", 1, SAMPLES, echo_add(echo, 40, 2, &sum));
    EXPECT(sum == 42);
    EXPECT(cairn_call_directly(&echo) == 0);
    ROW("native.call", 1, SAMPLES, echo_add(echo, 40, 2, &sum));
    EXPECT(sum == 42);
    EXPECT(cairn_call_directly(&echo) == 0);
    ROW("native.call", 1, SAMPLES, echo_add(echo, 40, 2, &sum));
    EXPECT(sum == 42);
    cairn_close(echo);
}
