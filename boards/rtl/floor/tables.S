# Page tables: two domains, each with one page of its own, and the kernel's pages in both.
    .include "layout.inc"
    .option norelax

    # Page-table entries (privileged manual, section 4.4.1); accessed and dirty are set, since a core may
    # trap to have them set.
    .equ    VALID, 0x01
    .equ    READ_WRITE, 0xc7
    .equ    READ_EXECUTE, 0x4b
    .equ    USER_PAGE, 0x10
    .equ    GLOBAL_PAGE, 0x20

# Entry `index` of the table at `table` names the page at `page`.
.macro entry table, index, page, flags
    li      t0, MEMORY + \table + (\index) * 8
    li      t1, (MEMORY + \page) >> 12 << 10 | (\flags)
    sd      t1, 0(t0)
.endm

    .section .text.start, "ax"
    .globl fill_tables
fill_tables:
.macro domain name
    entry   \name\()_TABLES, \name\()_ROOT, \name\()_TABLES + 0x1000, VALID
    entry   \name\()_TABLES, KERNEL_ROOT, KERNEL_TABLES, VALID
    entry   \name\()_TABLES + 0x1000, \name\()_MIDDLE, \name\()_TABLES + 0x2000, VALID
    entry   \name\()_TABLES + 0x2000, \name\()_LEAF, \name\()_TEXT, READ_EXECUTE | USER_PAGE
.endm
    domain  FIRST
    domain  SECOND
    entry   KERNEL_TABLES, KERNEL_MIDDLE, KERNEL_TABLES + 0x1000, VALID
    entry   KERNEL_TABLES + 0x1000, KERNEL_LEAF, KERNEL_TEXT, READ_EXECUTE | GLOBAL_PAGE
    entry   KERNEL_TABLES + 0x1000, KERNEL_LEAF + 1, KERNEL_DATA, READ_WRITE | GLOBAL_PAGE
    ret
