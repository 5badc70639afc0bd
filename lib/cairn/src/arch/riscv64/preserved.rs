//! The registers that the C convention preserves, with `gp` and `tp`, on the stack: for calls whose callee may not preserve
//! them. They take 128 bytes; the word at 120 is not used.

/// Makes room and stores them.
macro_rules! save_preserved {
    () => {
        concat!(
            "addi sp, sp, -128\n",
            "sd ra, 0(sp)\n",
            "sd s0, 8(sp)\n",
            "sd s1, 16(sp)\n",
            "sd s2, 24(sp)\n",
            "sd s3, 32(sp)\n",
            "sd s4, 40(sp)\n",
            "sd s5, 48(sp)\n",
            "sd s6, 56(sp)\n",
            "sd s7, 64(sp)\n",
            "sd s8, 72(sp)\n",
            "sd s9, 80(sp)\n",
            "sd s10, 88(sp)\n",
            "sd s11, 96(sp)\n",
            "sd gp, 104(sp)\n",
            "sd tp, 112(sp)\n",
        )
    };
}

/// Loads them again, all but `ra`. The room is still there.
macro_rules! load_preserved {
    () => {
        concat!(
            "ld s0, 8(sp)\n",
            "ld s1, 16(sp)\n",
            "ld s2, 24(sp)\n",
            "ld s3, 32(sp)\n",
            "ld s4, 40(sp)\n",
            "ld s5, 48(sp)\n",
            "ld s6, 56(sp)\n",
            "ld s7, 64(sp)\n",
            "ld s8, 72(sp)\n",
            "ld s9, 80(sp)\n",
            "ld s10, 88(sp)\n",
            "ld s11, 96(sp)\n",
            "ld gp, 104(sp)\n",
            "ld tp, 112(sp)\n",
        )
    };
}

pub(super) use {load_preserved, save_preserved};
