// Waits for times of day in several threads, and says in which order they came.
#include "cairn_library.h"
#include "cairn_thread.h"
#include "console.h"
#include "list.h"
#include "portals.h"
#include "wall_clock.h"

#include <stdio.h>
#include <time.h>

namespace {

constexpr uint32_t CONSOLE = CAIRN_PORTAL_FIRST_IMPORT;
constexpr uint32_t PORTALS = CONSOLE + CONSOLE_METHODS;
constexpr uint32_t THREADS = PORTALS + PORTALS_METHODS;
constexpr uint32_t WALL_CLOCK = THREADS + THREADS_METHODS;

constexpr uint64_t MILLISECOND = 1000000;

class Speaker {
  public:
    virtual ~Speaker() = default;
    virtual void say(const char *text) const = 0;
};

class Named final : public Speaker {
    const char *name;

  public:
    explicit Named(const char *name) : name(name) {}

    void say(const char *text) const override
    {
        printf("%s: %s\n", name, text);
    }
};

// Made before `run` begins.
const Named speaker("cpp-alarm");
List<int> delays;
struct Fill {
    Fill()
    {
        constexpr int milliseconds[] = { 60, 20, 40 };
        for (int delay : milliseconds)
            delays.add(delay);
    }
} fill;

thread_local uint64_t late = 1;

uint64_t base;
char order[4];
unsigned came;

void wait(uint64_t delay)
{
    const uint64_t until = base + delay * MILLISECOND;
    if (wall_clock_wait_until(WALL_CLOCK, until) != 0)
        return;
    uint64_t now = 0;
    if (wall_clock_now(WALL_CLOCK, &now) == 0 && now >= until)
        late -= 1;
    // Threads of one priority, far apart in time.
    order[came++] = late == 0 ? static_cast<char>('0' + delay / 10) : '?';
}

void run()
{
    static CAIRN_STACK(4096) stacks[3] = { CAIRN_GUARDED, CAIRN_GUARDED, CAIRN_GUARDED };
    uint64_t threads[3];
    unsigned started = 0;
    if (wall_clock_now(WALL_CLOCK, &base) != 0)
        return;
    delays.each([&](int delay) {
        if (cairn_spawn(THREADS, wait, delay, stacks[started].bytes, sizeof stacks[started].bytes, 10, &threads[started]) == 0)
            started++;
    });
    for (unsigned number = 0; number < started; number++)
        threads_join(THREADS, threads[number]);
    const Speaker *someone = &speaker;
    someone->say(delays.size() == 3 ? "three alarms" : "not all alarms");
    someone->say(order);

    const time_t now = time(nullptr);
    tm date;
    char line[48];
    strftime(line, sizeof line, "the day is %Y-%m-%d", gmtime_r(&now, &date));
    someone->say(line);
    someone->say(wall_clock_wait_until(WALL_CLOCK, 1) == 0 ? "a time that has passed" : "an error");
}

}

CAIRN_STDIO(CONSOLE);
CAIRN_LOCKS(PORTALS);
CAIRN_TIME(WALL_CLOCK);
CAIRN_COMPONENT(
    .import_count = 4,
    .name = "cpp-alarm",
    .main = run,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE },
                 { "portals", PORTALS, PORTALS_INTERFACE },
                 { "threads", THREADS, THREADS_INTERFACE },
                 { "clock", WALL_CLOCK, WALL_CLOCK_INTERFACE } });
