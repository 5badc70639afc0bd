#include "axi.h"

namespace {

// Transactions that are taken before the first one is answered.
constexpr size_t outstanding = 8;

// Answers (IHI 0022, A3.4.5).
constexpr uint8_t okay = 0, exclusive_okay = 1, decode_error = 3;

// Where a beat of a burst goes (IHI 0022, A3.4.1): fixed, rising, or wrapping at the burst's own size.
uint64_t beat_address(const AxiSignals::Address &address, unsigned beat) {
    const uint64_t size = 1ull << address.size;
    if (address.burst == 0 || beat == 0)
        return address.addr;
    const uint64_t next = (address.addr & ~(size - 1)) + beat * size;
    if (address.burst == 1)
        return next;
    const uint64_t span = size * (address.len + 1);
    return (address.addr & ~(span - 1)) | (next & (span - 1));
}

// What an atomic operation stores (IHI 0022, E1.1.3); the operands are sign-extended.
uint64_t combine(uint8_t atop, int64_t memory, int64_t operand) {
    if (atop == 0x30)
        return operand;
    const uint64_t left = memory, right = operand;
    switch (atop & 7) {
    case 0: return left + right;
    case 1: return left & ~right;
    case 2: return left ^ right;
    case 3: return left | right;
    case 4: return memory > operand ? memory : operand;
    case 5: return memory < operand ? memory : operand;
    case 6: return left > right ? left : right;
    default: return left < right ? left : right;
    }
}

uint64_t value_in(uint64_t lanes, uint64_t address, unsigned bytes) {
    const uint64_t value = lanes >> (address % 8 * 8);
    return bytes == 8 ? value : static_cast<uint64_t>(static_cast<int32_t>(value));
}

} // namespace

void Axi::drive(AxiSignals &signals, uint64_t now) const {
    signals.ar.ready = reads.size() < outstanding * 8;
    signals.aw.ready = writes.size() < outstanding;
    signals.w.ready = early.size() < outstanding * 8;
    signals.r.valid = !reads.empty() && reads.front().ready_at <= now;
    if (signals.r.valid) {
        signals.r.id = reads.front().id;
        signals.r.data = reads.front().data;
        signals.r.resp = reads.front().resp;
        signals.r.last = reads.front().last;
    }
    signals.b.valid = !answers.empty() && answers.front().ready_at <= now;
    if (signals.b.valid) {
        signals.b.id = answers.front().id;
        signals.b.resp = answers.front().resp;
    }
}

void Axi::take(const AxiSignals &signals, uint64_t now) {
    if (signals.r.valid && signals.r.ready)
        reads.pop_front();
    if (signals.b.valid && signals.b.ready)
        answers.pop_front();
    if (signals.aw.valid && signals.aw.ready)
        writes.push_back({signals.aw, 0, okay});
    if (signals.w.valid && signals.w.ready)
        early.push_back({signals.w.data, signals.w.strb});
    while (!writes.empty() && !early.empty()) {
        take_data(early.front(), now);
        early.pop_front();
    }
    if (signals.ar.valid && signals.ar.ready)
        take_read(signals.ar, now);
}

void Axi::take_read(const AxiSignals::Address &address, uint64_t now) {
    for (unsigned beat = 0; beat <= address.len; beat++) {
        uint64_t lanes;
        const bool there = bus.read(beat_address(address, beat), 1u << address.size, lanes);
        uint8_t resp = there ? okay : decode_error;
        if (address.lock && there) {
            reserved = true;
            reservation = address.addr & ~7ull;
            resp = exclusive_okay;
        }
        reads.push_back({now + latency + beat, lanes, address.id, resp, beat == address.len});
    }
}

void Axi::take_data(const Data &data, uint64_t now) {
    Write &write = writes.front();
    const uint64_t address = beat_address(write.address, write.beat);
    const uint8_t resp = write_beat(write, address, data, now);
    write.resp = resp == okay ? write.resp : resp;
    if (write.beat++ == write.address.len) {
        answers.push_back({now + latency, write.address.id, write.resp});
        writes.pop_front();
    }
}

uint8_t Axi::write_beat(Write &write, uint64_t address, const Data &data, uint64_t now) {
    if (write.address.lock) {
        const bool succeeds = reserved && reservation == (address & ~7ull);
        reserved = false;
        if (!succeeds)
            return okay;
        return bus.write(address, data.data, data.strb) ? exclusive_okay : decode_error;
    }
    if (reservation == (address & ~7ull))
        reserved = false;
    if (write.address.atop == 0)
        return bus.write(address, data.data, data.strb) ? okay : decode_error;
    // An atomic load or swap: the old value goes back on the read channel.
    const unsigned bytes = 1u << write.address.size;
    uint64_t lanes;
    const bool there = bus.read(address, bytes, lanes);
    const uint64_t result = combine(write.address.atop, value_in(lanes, address, bytes),
                                    value_in(data.data, address, bytes));
    if (there)
        bus.write(address, result << (address % 8 * 8), data.strb);
    const uint8_t resp = there ? okay : decode_error;
    reads.push_back({now + latency, lanes, write.address.id, resp, true});
    return resp;
}
