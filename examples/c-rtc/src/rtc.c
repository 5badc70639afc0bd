/* The clock of day of QEMU's machine `virt`: nanoseconds since 1970, and an alarm, which is an interrupt. */
#include "interrupt.h"
#include "lock.h"
#include "portals.h"
#include "semaphore.h"
#include "wall_clock.h"

enum { PORTALS = CAIRN_PORTAL_FIRST_IMPORT };

WALL_CLOCK_SERVER(rtc)

/* Registers, 32 bits each. */
enum {
    TIME_LOW = 0x00, /* a read keeps the upper half for the next read of TIME_HIGH */
    TIME_HIGH = 0x04,
    ALARM_LOW = 0x08, /* a write sets the alarm, with what ALARM_HIGH was given before */
    ALARM_HIGH = 0x0c,
    INTERRUPT_ENABLED = 0x10,
    CLEAR_ALARM = 0x14,
    CLEAR_INTERRUPT = 0x1c,
};

/* Nanoseconds until the latest alarm that is set, an hour: the device computes with a sign, and has a time too far from now
 * for one that has passed. An alarm for which nobody waits only sets the next one. */
#define LATEST (UINT64_C(3600) * 1000000000)

/* Who waits, each on a semaphore of its own. */
enum { WAITERS = 4 };
static struct {
    uint64_t time; /* 0: nobody */
    uint32_t semaphore;
    bool has_come;
    _Atomic bool is_left; /* its thread was called home, and did not get the lock to say so here */
} waiters[WAITERS];

/* Around the registers and the waiters; 0: not yet. */
static _Atomic uint32_t lock;

static const struct cairn_mapping *device(void)
{
    const struct cairn_mapping *device = cairn_device(0);
    if (!device || device->interrupt_portal == 0)
        cairn_panic("the description gives the clock no device with an interrupt");
    return device;
}

static uint64_t read_time(void)
{
    uint64_t low = cairn_read32(device(), TIME_LOW);
    return (uint64_t)cairn_read32(device(), TIME_HIGH) << 32 | low;
}

/* Has the device interrupt when the first of those who wait is to go on; a time that has passed interrupts at once. */
static void set_alarm(void)
{
    uint64_t first = 0;
    for (int at = 0; at < WAITERS; at++)
        if (waiters[at].time != 0 && !waiters[at].has_come && (first == 0 || waiters[at].time < first))
            first = waiters[at].time;
    if (first == 0) {
        cairn_write32(device(), CLEAR_ALARM, 1);
        return;
    }
    uint64_t latest = read_time() + LATEST;
    if (first > latest)
        first = latest;
    cairn_write32(device(), ALARM_HIGH, (uint32_t)(first >> 32));
    cairn_write32(device(), ALARM_LOW, (uint32_t)first);
}

/* A positive status of `lock` is the method's own: the lock is taken, but its last owner ended. */
static int64_t take(void)
{
    uint32_t first = lock;
    if (first == 0)
        return CAIRN_ERROR_BUSY;
    int64_t status = lock_lock(first);
    return status < 0 ? status : 0;
}

struct cairn_reply rtc_now(uint64_t control)
{
    (void)control;
    int64_t status = take();
    if (status != 0)
        return (struct cairn_reply){ status, 0 };
    uint64_t time = read_time();
    lock_unlock(lock);
    return (struct cairn_reply){ 0, time };
}

struct cairn_reply rtc_wait_until(uint64_t control, uint64_t time)
{
    (void)control;
    int64_t status = take();
    if (status != 0)
        return (struct cairn_reply){ status, 0 };
    int at = 0;
    while (at < WAITERS && waiters[at].time != 0 && !waiters[at].is_left)
        at++;
    if (time <= read_time() || at == WAITERS) {
        status = at < WAITERS || time <= read_time() ? 0 : CAIRN_ERROR_BUSY;
        lock_unlock(lock);
        return (struct cairn_reply){ status, 0 };
    }
    /* Signals are given under the lock: one that nobody waited for is there now. */
    if (waiters[at].is_left)
        semaphore_try_p(waiters[at].semaphore);
    waiters[at].is_left = false;
    waiters[at].time = time;
    waiters[at].has_come = false;
    set_alarm();
    lock_unlock(lock);

    /* It also ends if this thread is called home, because its client has died. */
    status = semaphore_p(waiters[at].semaphore);
    int64_t locked = take();
    if (locked != 0) {
        waiters[at].is_left = true;
        return (struct cairn_reply){ locked, 0 };
    }
    /* A signal that came too late for that is not for the next who waits here. */
    if (status != 0 && waiters[at].has_come)
        semaphore_try_p(waiters[at].semaphore);
    waiters[at].time = 0;
    set_alarm();
    lock_unlock(lock);
    return (struct cairn_reply){ status, 0 };
}

static void run(void)
{
    const uint32_t interrupt = (uint32_t)device()->interrupt_portal;
    uint64_t portal;
    for (int at = 0; at < WAITERS; at++) {
        if (portals_make_semaphore(PORTALS, 0, &portal) != 0)
            cairn_panic("the description's `semaphores`: expected 4");
        waiters[at].semaphore = (uint32_t)portal;
    }
    if (portals_make_lock(PORTALS, &portal) != 0)
        cairn_panic("the description's `locks`: expected 1");
    /* What a former life of this driver set must not count. */
    cairn_write32(device(), CLEAR_ALARM, 1);
    cairn_write32(device(), CLEAR_INTERRUPT, 1);
    cairn_write32(device(), INTERRUPT_ENABLED, 1);
    lock = (uint32_t)portal;

    for (;;) {
        /* The first acknowledgement opens the source. */
        if (interrupt_acknowledge(interrupt + SEMAPHORE_METHODS) != 0 || semaphore_p(interrupt) != 0)
            cairn_panic("cannot wait for the clock's interrupt");
        if (take() != 0)
            cairn_panic("cannot take the clock's lock");
        cairn_write32(device(), CLEAR_INTERRUPT, 1);
        uint64_t now = read_time();
        for (int at = 0; at < WAITERS; at++)
            if (waiters[at].time != 0 && !waiters[at].has_come && waiters[at].time <= now) {
                waiters[at].has_come = true;
                semaphore_v(waiters[at].semaphore);
            }
        set_alarm();
        lock_unlock(lock);
    }
}

CAIRN_COMPONENT(
    .name = "c-rtc",
    .main = run,
    .import_count = 1,
    .imports = { { "portals", PORTALS, PORTALS_INTERFACE } },
    .export_count = 1,
    .exports = { { "clock", 0, WALL_CLOCK_INTERFACE, WALL_CLOCK_ENTRIES(rtc) } });
