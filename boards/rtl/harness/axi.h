// The subordinate end of an AXI4 bus of 64 data bits (AMBA AXI specification IHI 0022), with AXI5's
// atomic operations, in front of memory and devices that answer after a fixed time.
#pragma once
#include "bus.h"
#include <cstdint>
#include <deque>

// The bus' signals in one cycle. Atomic operations (`aw.atop`) stay zero on a bus without them.
struct AxiSignals {
    struct Address {
        bool valid = false, ready = false, lock = false;
        uint8_t id = 0, len = 0, size = 0, burst = 0, atop = 0;
        uint64_t addr = 0;
    } aw, ar;
    struct {
        bool valid = false, ready = false, last = false;
        uint8_t strb = 0;
        uint64_t data = 0;
    } w;
    struct {
        bool valid = false, ready = false;
        uint8_t id = 0, resp = 0;
    } b;
    struct {
        bool valid = false, ready = false, last = false;
        uint8_t id = 0, resp = 0;
        uint64_t data = 0;
    } r;
};

class Axi {
public:
    // The first data, or the answer to a write, comes `latency` cycles after the address, or after the last
    // data, was taken; a burst goes on with a beat in each cycle.
    Axi(Bus &bus, unsigned latency) : bus(bus), latency(latency) {}

    // Sets what this end drives in the cycle `now`.
    void drive(AxiSignals &signals, uint64_t now) const;
    // Takes what was transferred in the cycle `now`, at its end.
    void take(const AxiSignals &signals, uint64_t now);

private:
    struct Read {
        uint64_t ready_at, data;
        uint8_t id, resp;
        bool last;
    };
    struct Answer {
        uint64_t ready_at;
        uint8_t id, resp;
    };
    struct Write {
        AxiSignals::Address address;
        unsigned beat;
        uint8_t resp;
    };
    struct Data {
        uint64_t data;
        uint8_t strb;
    };
    void take_read(const AxiSignals::Address &address, uint64_t now);
    void take_data(const Data &data, uint64_t now);
    uint8_t write_beat(Write &write, uint64_t address, const Data &data, uint64_t now);

    Bus &bus;
    unsigned latency;
    std::deque<Read> reads;
    std::deque<Answer> answers;
    std::deque<Write> writes;
    std::deque<Data> early; // data that came before its address
    bool reserved = false;
    uint64_t reservation = 0;
};
