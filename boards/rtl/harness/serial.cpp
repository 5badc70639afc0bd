// Registers and bits: PC16550D data sheet, section 8. The transmitter takes no time, so it is always empty.
#include "serial.h"
#include <cstdio>

namespace {
constexpr uint8_t receive_enable = 1, transmit_enable = 2;
constexpr uint8_t divisor_latch = 0x80;
constexpr uint8_t line_data_ready = 1, line_transmitter_empty = 0x60;
constexpr uint8_t cause_none = 1, cause_transmitter_empty = 2, cause_received = 4, fifos = 0xc0;
} // namespace

bool Serial::interrupt() const {
    return ((interrupt_enable & receive_enable) && !received.empty()) ||
           ((interrupt_enable & transmit_enable) && transmitter_empty_pending);
}

bool Serial::line_began() {
    const bool result = began;
    began = false;
    return result;
}

uint64_t Serial::read(uint64_t offset, unsigned) {
    switch (offset) {
    case 0: {
        if (line_control & divisor_latch)
            return divisor & 0xff;
        if (received.empty())
            return 0;
        const uint8_t byte = received.front();
        received.pop_front();
        return byte;
    }
    case 1:
        return line_control & divisor_latch ? divisor >> 8 : interrupt_enable;
    case 2:
        if ((interrupt_enable & receive_enable) && !received.empty())
            return fifos | cause_received;
        if ((interrupt_enable & transmit_enable) && transmitter_empty_pending) {
            transmitter_empty_pending = false;
            return fifos | cause_transmitter_empty;
        }
        return fifos | cause_none;
    case 3: return line_control;
    case 4: return modem_control;
    case 5: return line_transmitter_empty | (received.empty() ? 0 : line_data_ready);
    case 7: return scratch;
    default: return 0;
    }
}

void Serial::write(uint64_t offset, unsigned, uint64_t value) {
    switch (offset) {
    case 0:
        if (line_control & divisor_latch) {
            divisor = (divisor & 0xff00) | (value & 0xff);
            break;
        }
        began |= at_line_begin;
        at_line_begin = (value & 0xff) == '\n';
        std::putchar(static_cast<uint8_t>(value));
        std::fflush(stdout);
        transmitter_empty_pending = true;
        break;
    case 1:
        if (line_control & divisor_latch) {
            divisor = (divisor & 0xff) | (value & 0xff) << 8;
            break;
        }
        if (!(interrupt_enable & transmit_enable) && (value & transmit_enable))
            transmitter_empty_pending = true;
        interrupt_enable = value & 0xf;
        break;
    case 2:
        if (value & 2)
            received.clear();
        break;
    case 3: line_control = value; break;
    case 4: modem_control = value; break;
    case 7: scratch = value; break;
    }
}
