#include "options.h"
#include <stdexcept>

static const char usage[] =
    "\nusage: simulator [OPTION]... FILE@ADDRESS...\n"
    "  FILE@ADDRESS      put FILE into memory at ADDRESS\n"
    "  --input FILE      bytes that the serial port receives, one each 2000 cycles; `-`: standard input, live\n"
    "  --input-from CYCLE  of the first byte of FILE (0)\n"
    "  --latency CYCLES  of memory and device registers (20)\n"
    "  --lines           report the cycle in which each line of output begins\n"
    "  --limit CYCLES    end with status 124 after so many\n"
    "  --marks           report the program's marks and their cycles\n"
    "  --memory MEGABYTES  (128)\n"
    "  --summary         report cycles and speed at the end\n"
    "  --trace FILE      write each retired instruction and each transfer of the buses with its cycle\n"
    "  --trace-from CYCLE, --trace-to CYCLE  only these cycles\n";

static uint64_t number(const std::string &text) {
    size_t used = 0;
    uint64_t value = 0;
    try {
        value = std::stoull(text, &used, 0);
    } catch (const std::exception &) {
    }
    if (used != text.size() || text.empty())
        throw std::runtime_error("expected a number, found `" + text + "`" + usage);
    return value;
}

Options Options::parse(int count, char **arguments) {
    Options options;
    for (int index = 1; index < count; index++) {
        const std::string argument = arguments[index];
        const auto value = [&]() -> std::string {
            if (++index == count)
                throw std::runtime_error("`" + argument + "` needs a value" + usage);
            return arguments[index];
        };
        if (argument == "--input")
            options.input = value();
        else if (argument == "--input-from")
            options.input_from = number(value());
        else if (argument == "--latency")
            options.latency = number(value());
        else if (argument == "--limit")
            options.limit = number(value());
        else if (argument == "--lines")
            options.lines = true;
        else if (argument == "--memory")
            options.memory = number(value()) << 20;
        else if (argument == "--marks")
            options.marks = true;
        else if (argument == "--summary")
            options.summary = true;
        else if (argument == "--trace")
            options.trace = value();
        else if (argument == "--trace-from")
            options.trace_from = number(value());
        else if (argument == "--trace-to")
            options.trace_to = number(value());
        else if (const size_t at = argument.rfind('@'); argument[0] != '-' && at != std::string::npos)
            options.images.push_back({argument.substr(0, at), number(argument.substr(at + 1))});
        else
            throw std::runtime_error("unknown argument `" + argument + "`" + usage);
    }
    if (options.images.empty())
        throw std::runtime_error(std::string("nothing to run") + usage);
    return options;
}
