// What arrives at the serial port: a file, byte by byte at fixed cycles, so that runs repeat exactly; or
// standard input as it comes. A terminal is taken over until the end; there Ctrl-A X ends the simulation, as
// in QEMU.
#pragma once
#include "options.h"
#include <cstdint>
#include <optional>
#include <string>

class Input {
public:
    explicit Input(const Options &options);
    // The byte that arrives in this cycle.
    std::optional<uint8_t> at(uint64_t cycle);
    // Whoever sits at the terminal wants to leave.
    bool left() const { return has_left; }

private:
    void take_terminal();
    std::optional<uint8_t> live(uint64_t cycle);

    bool is_live;
    bool is_terminal = false, is_escaped = false, has_left = false;
    uint64_t from;
    std::string bytes;
    size_t next = 0;
};
