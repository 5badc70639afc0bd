// The command line.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

struct Options {
    struct Image {
        std::string file;
        uint64_t address;
    };
    std::vector<Image> images;
    std::string input;             // file of bytes for the serial port; `-`: the terminal, as it comes; empty: none
    uint64_t input_from = 0;       // cycle of the file's first byte
    uint64_t memory = 128ull << 20; // bytes
    unsigned latency = 20;         // cycles
    uint64_t limit = 0;            // cycles; 0: none
    bool marks = false;            // report marks
    bool lines = false;            // report the cycles in which lines of output begin
    std::string trace;             // file for what retires and what the buses transfer; empty: none
    uint64_t trace_from = 0, trace_to = UINT64_MAX; // cycles
    bool summary = false;          // report cycles and speed at the end

    // Throws with a reason and the usage.
    static Options parse(int count, char **arguments);
};
