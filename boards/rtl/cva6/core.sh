# How the core becomes the model that processor.cpp drives (boards/rtl/README.md, "Another core").
data=pythondata_cpu_cva6/system_verilog
top=cva6_top
options='-DWT_DCACHE -Icommon/submodules/common_cells/include -Icommon/local/util'
before=configuration.sv
after=top.sv
patches='core/include/ariane_pkg.sv:package.sed core/cva6.sv:tracer.sed'
