#include "input.h"
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <stdexcept>
#include <termios.h>
#include <unistd.h>

namespace {
constexpr uint64_t cycles_per_byte = 2000;
constexpr uint8_t escape = 'a' & 0x1f;

// As the terminal was. Global, because a signal's handler gives it back too.
termios terminal_before;

void give_terminal_back() {
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
}

void end_by_signal(int) {
    give_terminal_back();
    _exit(EXIT_FAILURE);
}
} // namespace

Input::Input(const Options &options) : is_live(options.input == "-"), from(options.input_from) {
    if (is_live && isatty(STDIN_FILENO))
        take_terminal();
    if (is_live || options.input.empty())
        return;
    std::ifstream in(options.input, std::ios::binary);
    if (!in)
        throw std::runtime_error("cannot read `" + options.input + "`");
    bytes.assign(std::istreambuf_iterator<char>(in), {});
}

void Input::take_terminal() {
    if (tcgetattr(STDIN_FILENO, &terminal_before) != 0)
        return;
    is_terminal = true;
    std::atexit(give_terminal_back);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        std::signal(signal, end_by_signal);
    termios raw = terminal_before;
    raw.c_iflag &= ~(ICRNL | INLCR | IGNCR | IXON);
    raw.c_lflag &= ~(ECHO | ICANON | ISIG | IEXTEN);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
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
    if (!is_terminal)
        return byte;
    if (!is_escaped && byte == escape) {
        is_escaped = true;
        return std::nullopt;
    }
    // The escape key twice is the key itself.
    has_left = is_escaped && (byte | 0x20) == 'x';
    const bool is_lost = is_escaped && byte != escape;
    is_escaped = false;
    if (is_lost)
        return std::nullopt;
    return byte;
}
