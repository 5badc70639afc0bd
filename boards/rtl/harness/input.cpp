#include "input.h"
#include <fstream>
#include <iterator>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>

namespace {
constexpr uint64_t cycles_per_byte = 2000;
}

Input::Input(const Options &options) : is_live(options.input == "-"), from(options.input_from) {
    if (is_live || options.input.empty())
        return;
    std::ifstream in(options.input, std::ios::binary);
    if (!in)
        throw std::runtime_error("cannot read `" + options.input + "`");
    bytes.assign(std::istreambuf_iterator<char>(in), {});
}

std::optional<uint8_t> Input::at(uint64_t cycle) {
    if (is_live)
        return live(cycle);
    if (next == bytes.size() || cycle < from + next * cycles_per_byte)
        return std::nullopt;
    return bytes[next++];
}

std::optional<uint8_t> Input::live(uint64_t cycle) {
    if (cycle % cycles_per_byte != 0)
        return std::nullopt;
    pollfd standard = {STDIN_FILENO, POLLIN, 0};
    uint8_t byte;
    if (poll(&standard, 1, 0) != 1 || read(STDIN_FILENO, &byte, 1) != 1)
        return std::nullopt;
    return byte;
}
