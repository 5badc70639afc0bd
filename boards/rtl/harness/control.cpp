#include "control.h"
#include <cinttypes>
#include <cstdio>

void Finisher::write(uint64_t, unsigned, uint64_t value) {
    const uint32_t word = value & 0xffff;
    if (word == 0x5555)
        status = 0;
    if (word == 0x3333)
        status = value >> 16 & 0xff;
}

uint64_t Control::read(uint64_t offset, unsigned) {
    return offset == cycle_at ? cycle : offset == raised_at ? raised : offset == misses_at ? misses : 0;
}

void Control::write(uint64_t offset, unsigned, uint64_t value) {
    if (offset == mark_at && report_marks)
        std::fprintf(stderr, "mark %" PRIu64 " at cycle %" PRIu64 "\n", value, cycle);
    if (offset == raise_at) {
        level = false;
        raise_in.reset();
        if (value)
            raise_in = cycle + value;
    }
}

void Control::tick(uint64_t now) {
    cycle = now;
    if (raise_in && now >= *raise_in) {
        raise_in.reset();
        raised = now;
        level = true;
    }
}
