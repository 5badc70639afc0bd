// A simulated core, by what it shows to the outside. Each core's processor.cpp defines `Processor::make` and the
// constants.
#pragma once
#include "axi.h"
#include <memory>
#include <optional>

// The lines into the core.
struct Lines {
    bool serial = false, control = false;         // the devices', for a core with its own controllers
    bool machine = false, supervisor = false;     // the harness' controllers', for a core without
    bool timer = false, software = false;
};

// A walk of the page tables, because a TLB has no entry for a page: now it has, if the walk found one.
struct Walk {
    uint64_t page;
    bool found;
};

class Processor {
public:
    // Whether timer and interrupt controller are parts of the core.
    static const bool has_controllers;
    // Number of its buses, of 64 data bits each.
    static const unsigned buses;
    // Where it begins, if that is not in main memory: the harness puts a jump to main memory there until the first
    // access to it that is no fetch. 0: none is needed.
    static const uint64_t begins_at;
    static std::unique_ptr<Processor> make();

    virtual ~Processor() = default;
    // One cycle in two halves: the outside's signals in, the core's answer out; then the clock edge.
    virtual void settle(const Lines &lines, bool reset, AxiSignals *signals) = 0;
    virtual void edge() = 0;
    // Between the two: the addresses of the instructions that retire or trap in this cycle, in their order;
    // their number.
    static constexpr unsigned retired_maximum = 2;
    virtual unsigned retired(uint64_t *addresses) const = 0;
    // The walk of the page tables that ends in this cycle, if one does.
    virtual std::optional<Walk> walked() const = 0;
};
