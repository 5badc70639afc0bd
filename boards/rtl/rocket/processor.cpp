// Rocket: a bus to main memory and one to device registers; timer and interrupt controller are its own.
#include "Core.h"
#include "Core___024root.h"
#include "processor.h"

const bool Processor::has_controllers = true;
const unsigned Processor::buses = 2;
const uint64_t Processor::begins_at = 0x1000'0000;

namespace {

// Both buses have the same signals under names of their own.
#define CONNECT(bus, prefix)                                                                             \
    do {                                                                                                 \
        bus.aw.valid = model.prefix##aw_valid, bus.aw.id = model.prefix##aw_bits_id;                     \
        bus.aw.addr = model.prefix##aw_bits_addr, bus.aw.len = model.prefix##aw_bits_len;                \
        bus.aw.size = model.prefix##aw_bits_size, bus.aw.burst = model.prefix##aw_bits_burst;            \
        bus.aw.lock = model.prefix##aw_bits_lock;                                                        \
        bus.w.valid = model.prefix##w_valid, bus.w.data = model.prefix##w_bits_data;                     \
        bus.w.strb = model.prefix##w_bits_strb, bus.w.last = model.prefix##w_bits_last;                  \
        bus.b.ready = model.prefix##b_ready;                                                             \
        bus.ar.valid = model.prefix##ar_valid, bus.ar.id = model.prefix##ar_bits_id;                     \
        bus.ar.addr = model.prefix##ar_bits_addr, bus.ar.len = model.prefix##ar_bits_len;                \
        bus.ar.size = model.prefix##ar_bits_size, bus.ar.burst = model.prefix##ar_bits_burst;            \
        bus.ar.lock = model.prefix##ar_bits_lock, bus.r.ready = model.prefix##r_ready;                   \
    } while (false)

#define DRIVE(bus, prefix)                                                                               \
    do {                                                                                                 \
        model.prefix##aw_ready = bus.aw.ready, model.prefix##w_ready = bus.w.ready;                      \
        model.prefix##b_valid = bus.b.valid, model.prefix##b_bits_id = bus.b.id;                         \
        model.prefix##b_bits_resp = bus.b.resp, model.prefix##ar_ready = bus.ar.ready;                   \
        model.prefix##r_valid = bus.r.valid, model.prefix##r_bits_id = bus.r.id;                         \
        model.prefix##r_bits_data = bus.r.data, model.prefix##r_bits_resp = bus.r.resp;                  \
        model.prefix##r_bits_last = bus.r.last;                                                          \
    } while (false)

// What the core's control and status registers report of the instruction that retires or traps.
#define SIGNAL(name)                                                                                     \
    model.rootp->ExampleRocketSystem__DOT__tile_prci_domain__DOT__tile_reset_domain_tile__DOT__core__DOT__csr_io_trace_0_##name

// The walker of the page tables, for the translations of data and of instructions.
#define WALKER(name)                                                                                     \
    model.rootp->ExampleRocketSystem__DOT__tile_prci_domain__DOT__tile_reset_domain_tile__DOT__ptw__DOT__##name

class Rocket : public Processor {
public:
    void settle(const Lines &lines, bool reset, AxiSignals *signals) override {
        model.reset = model.resetctrl_hartIsInReset_0 = reset;
        // The debug module stays in reset for good.
        model.debug_reset = model.debug_clockeddmi_dmiReset = 1;
        model.interrupts = lines.serial | lines.control << 1;
        DRIVE(signals[0], mem_axi4_0_);
        DRIVE(signals[1], mmio_axi4_0_);
        model.clock = 0;
        model.eval();
        CONNECT(signals[0], mem_axi4_0_);
        CONNECT(signals[1], mmio_axi4_0_);
    }
    void edge() override {
        model.clock = 1;
        model.eval();
    }

    unsigned retired(uint64_t *addresses) const override {
        if (!SIGNAL(valid))
            return 0;
        // 40 bits, sign-extended.
        addresses[0] = static_cast<int64_t>(SIGNAL(iaddr) << 24) >> 24;
        return 1;
    }
    std::optional<Walk> walked() const override {
        if (!WALKER(resp_valid_0) && !WALKER(resp_valid_1))
            return {};
        // A page's number of 27 bits, sign-extended.
        const uint64_t page = static_cast<int64_t>(static_cast<uint64_t>(WALKER(r_req_addr)) << 37) >> 25;
        return Walk{page, WALKER(r_pte_v) != 0};
    }

private:
    Core model;
};

} // namespace

std::unique_ptr<Processor> Processor::make() {
    return std::make_unique<Rocket>();
}
