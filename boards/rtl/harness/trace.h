// A file with a line for each instruction that retires and each access of the buses, for who asks where the
// cycles go.
#pragma once
#include "axi.h"
#include "options.h"
#include "processor.h"
#include <cstdio>
#include <memory>

class Trace {
public:
    // Throws if the file cannot be written.
    explicit Trace(const Options &options);
    void cycle(const Processor &processor, const std::vector<AxiSignals> &signals, uint64_t now);

private:
    struct Close {
        void operator()(std::FILE *file) const { std::fclose(file); }
    };
    void access(const char *kind, const AxiSignals::Address &address, uint64_t now);

    std::unique_ptr<std::FILE, Close> file;
    uint64_t from, to;
};
