#include "bus.h"
#include <cstring>
#include <fstream>
#include <stdexcept>

void Bus::attach(uint64_t base, uint64_t size, Device &device) {
    ranges.push_back({base, size, &device});
}

void Bus::load(const std::string &file, uint64_t address) {
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    if (!in)
        throw std::runtime_error("cannot read `" + file + "`");
    const uint64_t size = in.tellg();
    if (address < memory_base || address - memory_base > memory.size() ||
        size > memory.size() - (address - memory_base))
        throw std::runtime_error("`" + file + "` does not fit into memory at the given address");
    in.seekg(0);
    in.read(reinterpret_cast<char *>(&memory[address - memory_base]), size);
}

const Bus::Range *Bus::find(uint64_t address) const {
    for (const Range &range : ranges)
        if (address - range.base < range.size)
            return &range;
    return nullptr;
}

uint8_t *Bus::beat(uint64_t address) {
    const uint64_t offset = (address & ~7ull) - memory_base;
    return address >= memory_base && offset < memory.size() ? &memory[offset] : nullptr;
}

bool Bus::read(uint64_t address, unsigned bytes, uint64_t &lanes) {
    lanes = 0;
    if (const uint8_t *bytes_there = beat(address)) {
        std::memcpy(&lanes, bytes_there, 8);
        return true;
    }
    const Range *range = find(address);
    if (!range)
        return false;
    lanes = range->device->read(address - range->base, bytes) << (address % 8 * 8);
    return true;
}

bool Bus::write(uint64_t address, uint64_t lanes, uint8_t strobe) {
    if (uint8_t *there = beat(address)) {
        for (unsigned lane = 0; lane < 8; lane++)
            if (strobe >> lane & 1)
                there[lane] = lanes >> (lane * 8);
        return true;
    }
    if (!strobe)
        return true;
    const unsigned first = __builtin_ctz(strobe);
    const unsigned size = __builtin_popcount(strobe);
    const Range *range = find((address & ~7ull) + first);
    if (!range)
        return false;
    const uint64_t value = lanes >> (first * 8);
    const uint64_t mask = size == 8 ? ~0ull : (1ull << (size * 8)) - 1;
    range->device->write((address & ~7ull) + first - range->base, size, value & mask);
    return true;
}
