#include "options.h"
#include "interrupts.h"
#include <algorithm>
#include <stdexcept>
#include <utility>

static const char usage[] =
    "\nusage: simulator [OPTION]... FILE@ADDRESS...\n"
    "  FILE@ADDRESS      put FILE into memory at ADDRESS\n"
    "  --control, --finisher, --interrupts, --serial, --timer ADDRESS  where these registers are\n"
    "  --control-source, --serial-source NUMBER  of the interrupt controller\n"
    "  --input FILE      bytes that the serial port receives, one each 2000 cycles; `-`: standard input, live\n"
    "  --input-from CYCLE  of the first byte of FILE (0)\n"
    "  --latency CYCLES  of memory and device registers (20)\n"
    "  --lines           report the cycle in which each line of output begins\n"
    "  --limit CYCLES    end with status 124 after so many\n"
    "  --marks           report the program's marks and their cycles\n"
    "  --memory MEGABYTES  (128)\n"
    "  --reset CYCLES    in which the core is held in reset (20)\n"
    "  --summary         report cycles and speed at the end\n"
    "  --tick CYCLES     in a tick of the timer (100)\n"
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
    const std::pair<const char *, uint64_t *> board[] = {
        {"--serial", &options.serial},         {"--finisher", &options.finisher},
        {"--control", &options.control},       {"--timer", &options.timer},
        {"--interrupts", &options.interrupts}, {"--serial-source", &options.serial_source},
        {"--control-source", &options.control_source},
        {"--reset", &options.reset},           {"--tick", &options.tick},
    };
    for (int index = 1; index < count; index++) {
        const std::string argument = arguments[index];
        const auto value = [&]() -> std::string {
            if (++index == count)
                throw std::runtime_error("`" + argument + "` needs a value" + usage);
            return arguments[index];
        };
        const auto of_board = std::find_if(std::begin(board), std::end(board),
                                           [&](const auto &entry) { return argument == entry.first; });
        if (of_board != std::end(board))
            *of_board->second = number(value());
        else if (argument == "--input")
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
    if (options.tick == 0)
        throw std::runtime_error(std::string("a tick takes at least a cycle") + usage);
    for (const uint64_t source : {options.serial_source, options.control_source})
        if (source == 0 || source > Interrupts::sources)
            throw std::runtime_error("the interrupt controller has no source " + std::to_string(source) + usage);
    if (options.images.empty())
        throw std::runtime_error(std::string("nothing to run") + usage);
    return options;
}
