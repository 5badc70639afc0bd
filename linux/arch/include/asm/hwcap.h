/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_HWCAP_H
#define _ASM_CAIRN_HWCAP_H

#include <uapi/asm/hwcap.h>

#ifndef __ASSEMBLY__
extern unsigned long elf_hwcap;
#endif

#endif
