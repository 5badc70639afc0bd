#!/bin/sh
# bare.sh: makes what the kernel of ../native.sh needs on a simulated core: `entry-simulated.bin`, which is started in its place, and the `device-tree` of
# the board, in the folder CAIRN_OUTPUT. Places are the caller's: MEMORY and MEMORY_SIZE of the kernel, ENTRY, KERNEL, DEVICE_TREE, FILES and FILES_END, TIME_BASE.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
# Nothing but what its kernel takes: the timer is the core's, the console the firmware's.
"$CAIRN_OUTPUT/build/scripts/dtc/dtc" -q -I dts -O dtb -o "$CAIRN_OUTPUT/device-tree" - <<END
/dts-v1/;
/ {
    #address-cells = <2>;
    #size-cells = <2>;
    compatible = "cairn,simulated-core";
    model = "a simulated core";
    chosen {
        bootargs = "$COMMAND_LINE";
        linux,initrd-start = <0 $FILES>;
        linux,initrd-end = <0 $FILES_END>;
    };
    cpus {
        #address-cells = <1>;
        #size-cells = <0>;
        timebase-frequency = <$TIME_BASE>;
        cpu@0 {
            device_type = "cpu";
            reg = <0>;
            compatible = "riscv";
            riscv,isa = "rv64imac";
            mmu-type = "riscv,sv39";
            interrupt-controller {
                #interrupt-cells = <1>;
                interrupt-controller;
                compatible = "riscv,cpu-intc";
            };
        };
    };
    memory@0 {
        device_type = "memory";
        reg = <0 $MEMORY 0 $MEMORY_SIZE>;
    };
};
END
riscv64-unknown-elf-gcc -march=rv64imac_zicsr -mabi=lp64 -nostdlib -DKERNEL="$KERNEL" -DDEVICE_TREE="$DEVICE_TREE" -Wl,-Ttext="$ENTRY" \
    -o "$CAIRN_OUTPUT/entry-simulated" "$here/entry.S"
riscv64-unknown-elf-objcopy -O binary "$CAIRN_OUTPUT/entry-simulated" "$CAIRN_OUTPUT/entry-simulated.bin"
