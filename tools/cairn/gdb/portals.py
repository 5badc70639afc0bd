"""For gdb: `bt` goes across portals, into the memory of whoever called.

The host tool puts lines before this: FILES, where the code of each file is and which file has its rows, and numbers of the ABI. A row is
where it begins, the register and the offset by which the end of the function's frame is found, and from there where registers are kept.
"""

import bisect
import struct

import gdb
from gdb.unwinder import Unwinder, register_unwinder

MASK = (1 << 64) - 1
SAVED = ["ra", "fp", "s1"] + ["s%d" % number for number in range(2, 12)]
REGISTERS = {1: "ra", 2: "sp", 8: "fp", 9: "s1", **{number: "s%d" % (number - 16) for number in range(18, 28)}}
CONTEXT = ["satp", "sscratch"]
# The last instruction of a return portal.
SRET = 0x10200073
# `ecall` behind `li t0, 0`, in its two forms.
STUBS = (bytes.fromhex("93020000" "73000000"), bytes.fromhex("8142" "73000000"))


KERNEL, PORTAL_CODE, MARK_RETURN = (number & MASK for number in (KERNEL, PORTAL_CODE, MARK_RETURN))
TRAP_ENTRY = int(gdb.parse_and_eval("(unsigned long) &trap_entry")) & MASK


class Missing(Exception):
    """What is not in memory."""


def physical(address, size):
    """Bytes at a physical address."""
    gdb.execute("maintenance packet Qqemu.PhyMemMode:1", to_string=True)
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except gdb.MemoryError as error:
        raise Missing(str(error))
    finally:
        gdb.execute("maintenance packet Qqemu.PhyMemMode:0", to_string=True)


def read(satp, address, size):
    """Bytes at an address of the domain with this page table."""
    first = min(size, -address % 4096 or 4096)
    return read_in_page(satp, address, first) + (read(satp, address + first, size - first) if size > first else b"")


def read_in_page(satp, address, size):
    table = (satp & ((1 << 44) - 1)) << 12
    for level in (2, 1, 0):
        shift = 12 + 9 * level
        entry = struct.unpack("<Q", physical(table + (address >> shift & 511) * 8, 8))[0]
        if not entry & 1:
            break
        page = (entry >> 10 & ((1 << 44) - 1)) << 12
        if entry & 0xE:
            return physical(page + (address & ((1 << shift) - 1)), size)
        table = page
    raise Missing("%#x" % address)


def word(satp, address):
    return struct.unpack("<Q", read(satp, address & MASK, 8))[0]


class File:
    """The rows of a file, read when they are needed."""

    def __init__(self, offset, start, end, rows):
        self.offset, self.code, self.path, self.rows = offset, range(start, end), rows, None

    def row(self, address):
        """The row of an address: (register, offset, {register: offset}); None if nothing is known of it."""
        if self.rows is None:
            with open(self.path) as lines:
                fields = [line.split() for line in lines]
            self.rows = [[int(text, 0) for text in line] for line in fields]
            self.starts = [row[0] for row in self.rows]
        at = bisect.bisect_right(self.starts, address - self.offset) - 1
        if at < 0 or len(self.rows[at]) < 3:
            return None
        _, register, offset, *kept = self.rows[at]
        return register, offset, dict(zip(kept[::2], kept[1::2]))


def cross(registers):
    """The registers of the caller, for a function that returns by the portal that called it; None at the bottom of the thread."""
    satp, header = registers["satp"], registers["sscratch"]
    portal = word(satp, header + FRAME_RETURN)
    if not PORTAL_CODE <= portal:
        return None
    if word(satp, portal + LITERAL_MARK) != MARK_RETURN:
        return None
    frame = word(satp, portal + LITERAL_FRAME)
    caller = dict(registers, pc=word(satp, header + FRAME_RA), sp=None)
    caller.update(satp=word(satp, portal + LITERAL_SPACE), sscratch=header - (frame & 0xFFFF))
    # The portal's own loads say where it keeps what: `ld REGISTER, OFFSET(tp)`.
    for (code,) in struct.iter_unpack("<I", read(satp, portal, 512)):
        if code == SRET:
            break
        name = REGISTERS.get(code >> 7 & 31)
        if code & 0xFF07F == 0x23003 and name not in (None, "ra"):
            caller[name] = word(satp, header + (code >> 20) - (code >> 31 << 12))
    return caller if caller["sp"] else None


def caller_of(registers, is_interrupted):
    """The registers with which a function's caller goes on."""
    pc = registers["pc"]
    if pc >= KERNEL:
        # The first instruction of the nucleus: everything is as it was.
        return dict(registers, pc=registers["sepc"]) if pc == TRAP_ENTRY else None
    address = pc if is_interrupted else pc - 1
    file = next((file for file in FILES if address in file.code), None)
    if file is None:
        return None
    row = file.row(address)
    caller = dict(registers)
    if row is None:
        # Without a frame: a stub.
        caller["pc"] = registers["ra"]
    else:
        register, offset, kept = row
        caller["sp"] = registers[REGISTERS[register]] + offset
        for number, place in kept.items():
            caller[REGISTERS[number]] = word(registers["satp"], caller["sp"] + place)
        caller["pc"] = caller["ra"]
    try:
        code = read(registers["satp"], caller["pc"], 8)
    except Missing:
        return caller
    return cross(caller) if code.startswith(STUBS) else caller


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Portals(Unwinder):
    """Goes from a function to its caller, in the same component or in another."""

    def __init__(self):
        super().__init__("cairn-portals")

    def __call__(self, pending):
        integer = pending.architecture().integer_type(64, False)

        def value(number):
            return gdb.Value(number & MASK).cast(integer)

        registers = {}
        for name in ["pc", "sp"] + SAVED + CONTEXT + ["sepc"]:
            try:
                registers[name] = int(pending.read_register(name).cast(integer)) & MASK
            except (gdb.error, ValueError):
                registers[name] = 0
        if not registers["satp"]:
            return None
        # Only in the innermost function, `sepc` says something.
        is_interrupted = registers["sepc"] != 0
        try:
            caller = caller_of(registers, is_interrupted)
        except (Missing, KeyError):
            return None
        if caller is None and registers["pc"] >= KERNEL:
            return None
        if caller is None or all(caller[name] == registers[name] for name in ("pc", "sp")):
            # The bottom of the thread.
            caller = dict(registers, pc=0)
        info = pending.create_unwind_info(FrameId(value(registers["sp"]), value(registers["pc"])))
        for name in ["pc", "sp"] + SAVED + CONTEXT:
            info.add_saved_register(name, value(caller[name]))
        if registers["pc"] == TRAP_ENTRY:
            info.add_saved_register("sepc", value(registers["sepc"]))
        return info


FILES = [File(*file) for file in FILES]
# What is read is another's memory from one moment to the next.
gdb.execute("set stack-cache off")
gdb.execute("set code-cache off")
register_unwinder(None, Portals(), replace=True)
