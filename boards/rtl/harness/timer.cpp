#include "timer.h"

uint64_t Timer::read(uint64_t offset, unsigned size) {
    uint64_t word = 0;
    if (offset < 8)
        word = software;
    else if ((offset & ~7ull) == compare_at)
        word = compare;
    else if ((offset & ~7ull) == time_at)
        word = time;
    word >>= offset % 8 * 8;
    return size == 8 ? word : word & ((1ull << (size * 8)) - 1);
}

void Timer::write(uint64_t offset, unsigned size, uint64_t value) {
    const unsigned lane = offset % 8 * 8;
    const uint64_t mask = (size == 8 ? ~0ull : (1ull << (size * 8)) - 1) << lane;
    const auto merge = [&](uint64_t old) { return (old & ~mask) | (value << lane & mask); };
    if (offset == software_at)
        software = value & 1;
    else if ((offset & ~7ull) == compare_at)
        compare = merge(compare);
    else if ((offset & ~7ull) == time_at) {
        const uint64_t set = merge(time);
        shift += set - time;
        time = set;
    }
}
