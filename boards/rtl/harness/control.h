// The registers by which a program ends the simulation, marks a moment, and has an interrupt raised.
#pragma once
#include "bus.h"
#include <cstdint>
#include <optional>

// The end of the run, by the words of QEMU's test finisher.
class Finisher : public Device {
public:
    uint64_t read(uint64_t, unsigned) override { return 0; }
    void write(uint64_t offset, unsigned size, uint64_t value) override;
    std::optional<int> status;
};

class Control : public Device {
public:
    static constexpr uint64_t mark_at = 0x00;  // write: report the value and the cycle
    static constexpr uint64_t raise_at = 0x08; // write: raise the interrupt after so many cycles; 0 lowers it
    static constexpr uint64_t cycle_at = 0x10; // read: the present cycle
    static constexpr uint64_t raised_at = 0x18; // read: the cycle in which the interrupt was raised
    static constexpr uint64_t misses_at = 0x20; // read: how many walks of the page tables have found what a TLB missed

    explicit Control(bool report_marks) : report_marks(report_marks) {}
    uint64_t read(uint64_t offset, unsigned size) override;
    void write(uint64_t offset, unsigned size, uint64_t value) override;
    void tick(uint64_t now);
    void miss() { misses++; }
    bool interrupt() const { return level; }

private:
    bool report_marks, level = false;
    uint64_t cycle = 0, raised = 0, misses = 0;
    std::optional<uint64_t> raise_in;
};
