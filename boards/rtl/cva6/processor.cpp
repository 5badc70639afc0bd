// CVA6: one bus; timer and interrupt controller are the harness'.
#include "Core.h"
#include "processor.h"

const bool Processor::has_controllers = false;
const unsigned Processor::buses = 1;
const uint64_t Processor::begins_at = 0;

namespace {

class Cva6 : public Processor {
public:
    void settle(const Lines &lines, bool reset, AxiSignals *signals) override {
        AxiSignals &bus = signals[0];
        model.reset = reset;
        model.interrupt_machine = lines.machine;
        model.interrupt_supervisor = lines.supervisor;
        model.timer = lines.timer;
        model.software = lines.software;
        model.aw_ready = bus.aw.ready;
        model.w_ready = bus.w.ready;
        model.b_valid = bus.b.valid, model.b_id = bus.b.id, model.b_resp = bus.b.resp;
        model.ar_ready = bus.ar.ready;
        model.r_valid = bus.r.valid, model.r_id = bus.r.id, model.r_data = bus.r.data;
        model.r_resp = bus.r.resp, model.r_last = bus.r.last;
        model.clock = 0;
        model.eval();
        bus.aw.valid = model.aw_valid, bus.aw.id = model.aw_id, bus.aw.addr = model.aw_addr;
        bus.aw.len = model.aw_len, bus.aw.size = model.aw_size, bus.aw.burst = model.aw_burst;
        bus.aw.lock = model.aw_lock, bus.aw.atop = model.aw_atop;
        bus.w.valid = model.w_valid, bus.w.data = model.w_data;
        bus.w.strb = model.w_strb, bus.w.last = model.w_last;
        bus.b.ready = model.b_ready;
        bus.ar.valid = model.ar_valid, bus.ar.id = model.ar_id, bus.ar.addr = model.ar_addr;
        bus.ar.len = model.ar_len, bus.ar.size = model.ar_size, bus.ar.burst = model.ar_burst;
        bus.ar.lock = model.ar_lock, bus.r.ready = model.r_ready;
    }
    void edge() override {
        model.clock = 1;
        model.eval();
    }

    unsigned retired(uint64_t *addresses) const override {
        unsigned count = 0;
        if (model.retired & 1)
            addresses[count++] = model.retired_first;
        if (model.retired & 2)
            addresses[count++] = model.retired_second;
        return count;
    }
    std::optional<Walk> walked() const override {
        if (!model.walked)
            return {};
        return Walk{model.walked_address & ~uint64_t(0xfff), model.walked != walk_failed};
    }

private:
    static constexpr int walk_failed = 2;
    Core model;
};

} // namespace

std::unique_ptr<Processor> Processor::make() {
    return std::make_unique<Cva6>();
}
