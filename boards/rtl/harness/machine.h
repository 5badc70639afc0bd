// The core with memory and devices around it.
#pragma once
#include "axi.h"
#include "bus.h"
#include "control.h"
#include "input.h"
#include "interrupts.h"
#include "options.h"
#include "processor.h"
#include "serial.h"
#include "timer.h"
#include "trace.h"
#include <vector>

// The jump to main memory of a core that begins elsewhere. It lies over the registers there, if any, until those are first
// used: the core fetches instructions eight bytes at a time, and these registers are bytes.
class BootOverlay : public Device {
public:
    explicit BootOverlay(Device *below) : below(below) {}
    uint64_t read(uint64_t offset, unsigned size) override;
    void write(uint64_t offset, unsigned size, uint64_t value) override;

private:
    Device *below;
    bool open = true;
};

class Machine {
public:
    explicit Machine(const Options &options);
    // Runs to the end; the exit status.
    int run();
    uint64_t cycles() const { return now; }

private:
    void cycle(bool reset);
    void devices();

    const Options &options;
    Bus bus;
    Serial serial;
    BootOverlay boot;
    Finisher finisher;
    Control control;
    Timer timer;
    Interrupts interrupts;
    std::unique_ptr<Processor> processor;
    std::vector<Axi> ports;
    std::vector<AxiSignals> signals;
    Lines lines;
    Input input;
    Trace trace;
    uint64_t now = 0;
};
