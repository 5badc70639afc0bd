# How the core becomes the model that processor.cpp drives (boards/rtl/README.md, "Another core").
data=pythondata_cpu_rocket/verilog
top=ExampleRocketSystem
before=visible.vlt
