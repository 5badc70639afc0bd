// A simulated core, by what it shows to the outside. Each core's file defines `Processor::make`.
#pragma once
#include "axi.h"
#include <memory>

// The lines into the core.
struct Lines {
    bool serial = false, control = false;         // the devices', for a core with its own controllers
    bool machine = false, supervisor = false;     // the harness' controllers', for a core without
    bool timer = false, software = false;
};

class Processor {
public:
    // Whether timer and interrupt controller are parts of the core.
    static const bool has_controllers;
    // Number of its buses.
    static const unsigned buses;
    static std::unique_ptr<Processor> make();

    virtual ~Processor() = default;
    // One cycle in two halves: the outside's signals in, the core's answer out; then the clock edge.
    virtual void settle(const Lines &lines, bool reset, AxiSignals *signals) = 0;
    virtual void edge() = 0;
    // Between the two: the addresses of the instructions that retire or trap in this cycle, in their order;
    // their number.
    static constexpr unsigned retired_maximum = 2;
    virtual unsigned retired(uint64_t *addresses) const = 0;
};
