// The address space behind the core's buses: main memory, and device registers below it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

// A range of registers.
class Device {
public:
    virtual ~Device() = default;
    virtual uint64_t read(uint64_t offset, unsigned size) = 0;
    virtual void write(uint64_t offset, unsigned size, uint64_t value) = 0;
};

class Bus {
public:
    static constexpr uint64_t memory_base = 0x8000'0000;

    explicit Bus(uint64_t memory_size) : memory(memory_size) {}

    void attach(uint64_t base, uint64_t size, Device &device);
    // Puts a file into memory; throws with a reason if it cannot.
    void load(const std::string &file, uint64_t address);

    // Accesses of one data beat of eight bytes. `bytes` is the number of bytes asked for; a device sees
    // exactly those. False: nothing is there.
    bool read(uint64_t address, unsigned bytes, uint64_t &lanes);
    bool write(uint64_t address, uint64_t lanes, uint8_t strobe);

private:
    struct Range {
        uint64_t base, size;
        Device *device;
    };
    const Range *find(uint64_t address) const;
    uint8_t *beat(uint64_t address);

    std::vector<uint8_t> memory;
    std::vector<Range> ranges;
};
