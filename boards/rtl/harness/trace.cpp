#include "trace.h"
#include <cinttypes>
#include <stdexcept>

Trace::Trace(const Options &options) : from(options.trace_from), to(options.trace_to) {
    if (options.trace.empty())
        return;
    file.reset(std::fopen(options.trace.c_str(), "w"));
    if (!file)
        throw std::runtime_error("cannot write `" + options.trace + "`");
}

void Trace::access(const char *kind, const AxiSignals::Address &address, uint64_t now) {
    if (address.valid && address.ready)
        std::fprintf(file.get(), "%" PRIu64 " %s %" PRIx64 " %u\n", now, kind, address.addr,
                     (address.len + 1u) << address.size);
}

void Trace::cycle(const Processor &processor, const std::vector<AxiSignals> &signals, uint64_t now) {
    if (!file || now < from || now >= to)
        return;
    uint64_t addresses[Processor::retired_maximum];
    const unsigned count = processor.retired(addresses);
    for (unsigned index = 0; index < count; index++)
        std::fprintf(file.get(), "%" PRIu64 " pc %" PRIx64 "\n", now, addresses[index]);
    if (const auto walk = processor.walked())
        std::fprintf(file.get(), "%" PRIu64 " walk %" PRIx64 "\n", now, walk->page);
    for (const AxiSignals &bus : signals) {
        access("read", bus.ar, now);
        access("write", bus.aw, now);
    }
}
