#include "machine.h"
#include <cinttypes>
#include <cstdio>

namespace {
constexpr int limit_status = 124;
} // namespace

uint64_t BootOverlay::read(uint64_t offset, unsigned size) {
    open &= size == 8;
    if (!open)
        return below ? below->read(offset, size) : 0;
    // addi t0, zero, 1; slli t0, t0, 31; jr t0; nop
    static const uint32_t code[] = {0x0010'0293, 0x01f2'9293, 0x0002'8067, 0x0000'0013};
    const uint64_t words = code[offset / 8 * 2 & 3] | uint64_t(code[(offset / 8 * 2 & 3) + 1]) << 32;
    return words >> (offset % 8 * 8);
}

void BootOverlay::write(uint64_t offset, unsigned size, uint64_t value) {
    open = false;
    if (below)
        below->write(offset, size, value);
}

Machine::Machine(const Options &options)
    : options(options), bus(options.memory),
      boot(options.serial == Processor::begins_at ? &serial : nullptr), control(options.marks),
      timer(options.tick), processor(Processor::make()), ports(Processor::buses, Axi(bus, options.latency)),
      signals(Processor::buses), input(options), trace(options) {
    // Of two ranges at an address the first counts.
    if (Processor::begins_at)
        bus.attach(Processor::begins_at, 0x100, boot);
    bus.attach(options.serial, 0x100, serial);
    bus.attach(options.finisher, 0x1000, finisher);
    bus.attach(options.control, 0x1000, control);
    if (!Processor::has_controllers) {
        bus.attach(options.timer, 0x1'0000, timer);
        bus.attach(options.interrupts, 0x60'0000, interrupts);
    }
    for (const Options::Image &image : options.images)
        bus.load(image.file, image.address);
}

void Machine::devices() {
    control.tick(now);
    if (const auto byte = input.at(now))
        serial.receive(*byte);
    lines.serial = serial.interrupt();
    lines.control = control.interrupt();
    if (Processor::has_controllers)
        return;
    timer.tick(now);
    interrupts.line(options.serial_source, lines.serial);
    interrupts.line(options.control_source, lines.control);
    lines.machine = interrupts.interrupt(0);
    lines.supervisor = interrupts.interrupt(1);
    lines.timer = timer.timer_interrupt();
    lines.software = timer.software_interrupt();
}

void Machine::cycle(bool reset) {
    for (size_t port = 0; port < ports.size(); port++)
        ports[port].drive(signals[port], now);
    processor->settle(lines, reset, signals.data());
    if (!reset) {
        for (size_t port = 0; port < ports.size(); port++)
            ports[port].take(signals[port], now);
        trace.cycle(*processor, signals, now);
        if (const auto walk = processor->walked(); walk && walk->found)
            control.miss();
    }
    processor->edge();
}

int Machine::run() {
    for (uint64_t cycles = 0; cycles < options.reset; cycles++)
        cycle(true);
    while (!finisher.status) {
        if (options.limit && now == options.limit)
            return limit_status;
        if (input.left())
            return 0;
        devices();
        cycle(false);
        if (options.lines && serial.line_began())
            std::fprintf(stderr, "line at cycle %" PRIu64 "\n", now);
        now++;
    }
    return *finisher.status;
}
