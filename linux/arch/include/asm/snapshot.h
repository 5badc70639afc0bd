/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_SNAPSHOT_H
#define _ASM_CAIRN_SNAPSHOT_H

/* There is no snapshot while somebody has the disk open, and none after somebody had what is forbidden with it: `what` is a part of a message. */
#ifdef CONFIG_CAIRN_SNAPSHOT
void cairn_hold_snapshot(void);
void cairn_release_snapshot(void);
void cairn_forbid_snapshots(const char *what);
#else
static inline void cairn_hold_snapshot(void) { }
static inline void cairn_release_snapshot(void) { }
static inline void cairn_forbid_snapshots(const char *what) { }
#endif

/* In a later life the disk may be another one. */
#ifdef CONFIG_CAIRN_DISK
void cairn_show_disk_again(void);
#else
static inline void cairn_show_disk_again(void) { }
#endif

#endif
