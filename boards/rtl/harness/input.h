// What arrives at the serial port: a file, byte by byte at fixed cycles, so that runs repeat exactly; or
// standard input as it comes.
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

private:
    std::optional<uint8_t> live(uint64_t cycle);

    bool is_live;
    uint64_t from;
    std::string bytes;
    size_t next = 0;
};
