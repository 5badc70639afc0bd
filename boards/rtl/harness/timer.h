// The core-local timer and software interrupt (RISC-V ACLINT specification, MTIMER and MSWI) at the offsets
// of the older CLINT, for a core that brings none.
#pragma once
#include "bus.h"

class Timer : public Device {
public:
    // Cycles in a tick of `mtime`.
    explicit Timer(uint64_t cycles_per_tick) : cycles_per_tick(cycles_per_tick) {}
    uint64_t read(uint64_t offset, unsigned size) override;
    void write(uint64_t offset, unsigned size, uint64_t value) override;
    void tick(uint64_t now) { time = now / cycles_per_tick + shift; }
    bool timer_interrupt() const { return time >= compare; }
    bool software_interrupt() const { return software; }

private:
    static constexpr uint64_t software_at = 0, compare_at = 0x4000, time_at = 0xbff8;
    uint64_t cycles_per_tick;
    uint64_t time = 0, shift = 0, compare = ~0ull;
    bool software = false;
};
