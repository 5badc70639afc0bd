// CVA6 with the fields of its bus as ports of their own, since a C++ harness reads no structures.
module cva6_top (
    input  logic        clock,
    input  logic        reset,
    input  logic        interrupt_machine,
    input  logic        interrupt_supervisor,
    input  logic        timer,
    input  logic        software,

    output logic        aw_valid,
    input  logic        aw_ready,
    output logic [3:0]  aw_id,
    output logic [63:0] aw_addr,
    output logic [7:0]  aw_len,
    output logic [2:0]  aw_size,
    output logic [1:0]  aw_burst,
    output logic        aw_lock,
    output logic [5:0]  aw_atop,
    output logic        w_valid,
    input  logic        w_ready,
    output logic [63:0] w_data,
    output logic [7:0]  w_strb,
    output logic        w_last,
    input  logic        b_valid,
    output logic        b_ready,
    input  logic [3:0]  b_id,
    input  logic [1:0]  b_resp,
    output logic        ar_valid,
    input  logic        ar_ready,
    output logic [3:0]  ar_id,
    output logic [63:0] ar_addr,
    output logic [7:0]  ar_len,
    output logic [2:0]  ar_size,
    output logic [1:0]  ar_burst,
    output logic        ar_lock,
    input  logic        r_valid,
    output logic        r_ready,
    input  logic [3:0]  r_id,
    input  logic [63:0] r_data,
    input  logic [1:0]  r_resp,
    input  logic        r_last,

    // Of each commit port: an instruction retires or traps in this cycle, and where it lies.
    output logic [1:0]  retired,
    output logic [63:0] retired_first,
    output logic [63:0] retired_second,

    // A walk of the page tables ends in this cycle, 1: with an entry for a TLB, 2: without; and for which address.
    output logic [1:0]  walked,
    output logic [63:0] walked_address
);
    // Below main memory lie only device registers, which must not be read ahead of time.
    localparam ariane_pkg::ariane_cfg_t Configuration = '{
        RASDepth: 2,
        BTBEntries: 32,
        BHTEntries: 128,
        NrNonIdempotentRules: 1,
        NonIdempotentAddrBase: 64'h0,
        NonIdempotentLength: 64'h8000_0000,
        NrExecuteRegionRules: 1,
        ExecuteRegionAddrBase: 64'h8000_0000,
        ExecuteRegionLength: 64'h8000_0000,
        NrCachedRegionRules: 1,
        CachedRegionAddrBase: 64'h8000_0000,
        CachedRegionLength: 64'h8000_0000,
        AxiCompliant: 1'b1,
        SwapEndianess: 1'b0,
        DmBaseAddress: 64'h0,
        NrPMPEntries: 8
    };

    ariane_axi::req_t request;
    ariane_axi::resp_t response;

    ariane #(.ArianeCfg(Configuration)) core (
        .clk_i(clock),
        .rst_ni(~reset),
        .boot_addr_i(39'h8000_0000),
        .hart_id_i(64'h0),
        .irq_i({interrupt_supervisor, interrupt_machine}),
        .ipi_i(software),
        .time_irq_i(timer),
        .debug_req_i(1'b0),
        .axi_req_o(request),
        .axi_resp_i(response)
    );

    assign retired = {core.i_cva6.commit_ack[1],
                      core.i_cva6.commit_ack[0] | core.i_cva6.ex_commit.valid};
    assign retired_first = core.i_cva6.commit_instr_id_commit[0].pc;
    assign retired_second = core.i_cva6.commit_instr_id_commit[1].pc;

    assign walked = {core.i_cva6.ex_stage_i.lsu_i.gen_mmu_sv39.i_cva6_mmu.ptw_error,
                     core.i_cva6.ex_stage_i.lsu_i.gen_mmu_sv39.i_cva6_mmu.update_ptw_itlb.valid
                     | core.i_cva6.ex_stage_i.lsu_i.gen_mmu_sv39.i_cva6_mmu.update_ptw_dtlb.valid};
    assign walked_address = core.i_cva6.ex_stage_i.lsu_i.gen_mmu_sv39.i_cva6_mmu.update_vaddr;

    assign aw_valid = request.aw_valid;
    assign aw_id = request.aw.id;
    assign aw_addr = request.aw.addr;
    assign aw_len = request.aw.len;
    assign aw_size = request.aw.size;
    assign aw_burst = request.aw.burst;
    assign aw_lock = request.aw.lock;
    assign aw_atop = request.aw.atop;
    assign w_valid = request.w_valid;
    assign w_data = request.w.data;
    assign w_strb = request.w.strb;
    assign w_last = request.w.last;
    assign b_ready = request.b_ready;
    assign ar_valid = request.ar_valid;
    assign ar_id = request.ar.id;
    assign ar_addr = request.ar.addr;
    assign ar_len = request.ar.len;
    assign ar_size = request.ar.size;
    assign ar_burst = request.ar.burst;
    assign ar_lock = request.ar.lock;
    assign r_ready = request.r_ready;

    always_comb begin
        response = '0;
        response.aw_ready = aw_ready;
        response.ar_ready = ar_ready;
        response.w_ready = w_ready;
        response.b_valid = b_valid;
        response.b.id = b_id;
        response.b.resp = b_resp;
        response.r_valid = r_valid;
        response.r.id = r_id;
        response.r.data = r_data;
        response.r.resp = r_resp;
        response.r.last = r_last;
    end
endmodule
