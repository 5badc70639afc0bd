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
    // The board: registers, the interrupt sources of two of them, cycles of the reset and of a tick of `mtime`. A core
    // that brings its own timer and interrupt controller has them where it likes.
    uint64_t serial = 0x1000'0000, finisher = 0x1010'0000, control = 0x1010'1000;
    uint64_t timer = 0x200'0000, interrupts = 0xc00'0000;
    uint64_t serial_source = 1, control_source = 2, reset = 20, tick = 100;
    bool marks = false;            // report marks
    bool lines = false;            // report the cycles in which lines of output begin
    std::string trace;             // file for what retires and what the buses transfer; empty: none
    uint64_t trace_from = 0, trace_to = UINT64_MAX; // cycles
    bool summary = false;          // report cycles and speed at the end

    // Throws with a reason and the usage.
    static Options parse(int count, char **arguments);
};
