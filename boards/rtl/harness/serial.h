// A 16550 serial port whose line is this program's output, and a file for input.
#pragma once
#include "bus.h"
#include <cstdint>
#include <deque>

class Serial : public Device {
public:
    uint64_t read(uint64_t offset, unsigned size) override;
    void write(uint64_t offset, unsigned size, uint64_t value) override;
    // A byte arrives on the line.
    void receive(uint8_t byte) { received.push_back(byte); }
    bool interrupt() const;
    // Whether a line of output began since this was asked last.
    bool line_began();

private:
    std::deque<uint8_t> received;
    uint8_t interrupt_enable = 0, line_control = 0, modem_control = 0, scratch = 0;
    uint16_t divisor = 1;
    bool transmitter_empty_pending = false;
    bool at_line_begin = true, began = false;
};
