# Changes to core/cva6.sv: without the tracer that writes each instruction to a file.
/^\/\/ mock tracer for Verilator/,/^`endif \/\/ VERILATOR/{
    /^`endif \/\/ VERILATOR/!d
}
