// The platform-level interrupt controller (RISC-V PLIC specification 1.0.0), for a core that brings none:
// one hart, context 0 its machine mode, context 1 its supervisor mode.
#pragma once
#include "bus.h"
#include <array>

class Interrupts : public Device {
public:
    static constexpr unsigned sources = 8, contexts = 2;
    uint64_t read(uint64_t offset, unsigned size) override;
    void write(uint64_t offset, unsigned size, uint64_t value) override;
    // The level of the line of a source, 1 to `sources`.
    void line(unsigned source, bool level);
    bool interrupt(unsigned context) const;

private:
    unsigned best(unsigned context) const;

    struct Source {
        uint32_t priority = 0;
        bool level = false, pending = false, in_service = false;
    };
    struct Context {
        uint32_t enabled = 0, threshold = 0;
    };
    std::array<Source, sources + 1> source{};
    std::array<Context, contexts> context{};
};
