#include "machine.h"
#include <cinttypes>
#include <cstdio>

namespace {
// The memory map: timer, interrupt controller and serial port as in QEMU's `virt`, whose test finisher
// and whatever else it has lie where Rocket has no bus.
constexpr uint64_t timer_at = 0x200'0000, interrupts_at = 0xc00'0000, serial_at = 0x1000'0000;
constexpr uint64_t finisher_at = 0x1010'0000, control_at = 0x1010'1000;
constexpr unsigned serial_source = 1, control_source = 2;

// As in Rocket's configuration: a clock of 100 MHz, `mtime` of 1 MHz.
constexpr uint64_t cycles_per_tick = 100;
constexpr unsigned reset_cycles = 20;
constexpr int limit_status = 124;
} // namespace

uint64_t BootOverlay::read(uint64_t offset, unsigned size) {
    open &= size == 8;
    if (!open)
        return below.read(offset, size);
    // addi t0, zero, 1; slli t0, t0, 31; jr t0; nop
    static const uint32_t code[] = {0x0010'0293, 0x01f2'9293, 0x0002'8067, 0x0000'0013};
    const uint64_t words = code[offset / 8 * 2 & 3] | uint64_t(code[(offset / 8 * 2 & 3) + 1]) << 32;
    return words >> (offset % 8 * 8);
}

void BootOverlay::write(uint64_t offset, unsigned size, uint64_t value) {
    open = false;
    below.write(offset, size, value);
}

Machine::Machine(const Options &options)
    : options(options), bus(options.memory), control(options.marks), timer(cycles_per_tick),
      processor(Processor::make()), ports(Processor::buses, Axi(bus, options.latency)),
      signals(Processor::buses), input(options), trace(options) {
    bus.attach(serial_at, 0x100, Processor::has_controllers ? static_cast<Device &>(boot) : serial);
    bus.attach(finisher_at, 0x1000, finisher);
    bus.attach(control_at, 0x1000, control);
    if (!Processor::has_controllers) {
        bus.attach(timer_at, 0x1'0000, timer);
        bus.attach(interrupts_at, 0x60'0000, interrupts);
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
    interrupts.line(serial_source, lines.serial);
    interrupts.line(control_source, lines.control);
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
    }
    processor->edge();
}

int Machine::run() {
    for (unsigned cycles = 0; cycles < reset_cycles; cycles++)
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
