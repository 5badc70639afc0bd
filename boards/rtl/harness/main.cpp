// A cycle-exact simulation of a core: runs programs in memory until they end it.
#include "machine.h"
#include "options.h"
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <exception>

// Verilator asks for the time of messages.
double sc_time_stamp() {
    return 0;
}

int main(int count, char **arguments) {
    try {
        const Options options = Options::parse(count, arguments);
        Machine machine(options);
        const auto begin = std::chrono::steady_clock::now();
        const int status = machine.run();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        if (options.summary)
            std::fprintf(stderr, "%" PRIu64 " cycles in %.1f s, %.0f a second\n", machine.cycles(),
                         seconds.count(), machine.cycles() / seconds.count());
        return status;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "simulator: %s\n", error.what());
        return 2;
    }
}
