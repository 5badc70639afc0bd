/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_SNAPSHOT_H
#define _ASM_CAIRN_SNAPSHOT_H

/* There is no snapshot while somebody has something that a later life would not have: `what` is a part of a message. */
#ifdef CONFIG_CAIRN_SNAPSHOT
void cairn_hold_snapshot(const char *what);
void cairn_release_snapshot(void);
#else
static inline void cairn_hold_snapshot(const char *what) { }
static inline void cairn_release_snapshot(void) { }
#endif

#endif
