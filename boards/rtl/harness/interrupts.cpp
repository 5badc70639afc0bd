#include "interrupts.h"

namespace {
// The memory map (section 3).
constexpr uint64_t pending_at = 0x1000, enable_at = 0x2000, enable_stride = 0x80;
constexpr uint64_t context_at = 0x20'0000, context_stride = 0x1000;
constexpr uint32_t highest_priority = 7;
} // namespace

void Interrupts::line(unsigned number, bool level) {
    Source &line = source[number];
    line.level = level;
    // The gateway passes a level on once, and again when it is completed (section 1.3).
    if (level && !line.in_service)
        line.pending = true;
}

unsigned Interrupts::best(unsigned number) const {
    unsigned best = 0;
    for (unsigned other = 1; other <= sources; other++)
        if (source[other].pending && (context[number].enabled >> other & 1) &&
            source[other].priority > source[best].priority)
            best = other;
    return best;
}

bool Interrupts::interrupt(unsigned number) const {
    return source[best(number)].priority > context[number].threshold;
}

uint64_t Interrupts::read(uint64_t offset, unsigned) {
    if (offset < pending_at)
        return offset / 4 <= sources ? source[offset / 4].priority : 0;
    if (offset == pending_at) {
        uint32_t pending = 0;
        for (unsigned number = 1; number <= sources; number++)
            pending |= source[number].pending << number;
        return pending;
    }
    for (unsigned number = 0; number < contexts; number++) {
        if (offset == enable_at + number * enable_stride)
            return context[number].enabled;
        const uint64_t registers = context_at + number * context_stride;
        if (offset == registers)
            return context[number].threshold;
        if (offset == registers + 4) {
            const unsigned claimed = best(number);
            source[claimed].pending = false;
            source[claimed].in_service = claimed != 0;
            return claimed;
        }
    }
    return 0;
}

void Interrupts::write(uint64_t offset, unsigned, uint64_t value) {
    if (offset < pending_at) {
        if (offset != 0 && offset / 4 <= sources)
            source[offset / 4].priority = value & highest_priority;
        return;
    }
    for (unsigned number = 0; number < contexts; number++) {
        if (offset == enable_at + number * enable_stride)
            context[number].enabled = value & ((2u << sources) - 2);
        const uint64_t registers = context_at + number * context_stride;
        if (offset == registers)
            context[number].threshold = value & highest_priority;
        // The completion of a source that is not enabled is ignored (section 9).
        if (offset == registers + 4 && value >= 1 && value <= sources && (context[number].enabled >> value & 1)) {
            source[value].in_service = false;
            line(value, source[value].level);
        }
    }
}
