/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What Linux' programs call, and are called for. Some threads take the kernel's calls and make them, so that only the process waits. A component
 * that calls Linux waits here, with its own thread, until a process has answered; none waits for a service whose process is gone.
 */
#include "../../arch/include/asm/component.h"
#include "../../arch/include/asm/devices.h"

#include "imports.h"
#include "semaphore.h"

#include "cairn_startup.h"
#include "cairn_thread.h"

#include <stdatomic.h>
#include <stdio.h>

enum { PAGE = 4096, NAME = 64 };

/* Before it is sent away, it is 0 outside of what a call uses: whoever is called sees whole pages. */
static struct { _Alignas(PAGE) char bytes[CAIRN_CALL_BYTES]; } rooms[CAIRN_CALLERS];
static uint32_t callers;

static size_t pages(size_t size)
{
    return (size + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* ---------------------------------------------------------------------------------------------- calls of components */

static struct cairn_service_call *begun[CAIRN_CALLS];
static _Atomic uint32_t from;
static uint32_t to, waiting; /* `waiting` is a semaphore: so many have begun that nobody has taken */

void cairn_service_begin(struct cairn_service_call *call)
{
    begun[to++ % CAIRN_CALLS] = call;
    semaphore_v(waiting);
}

static int64_t call_method(struct cairn_service_call *call, char *bytes)
{
    uint64_t words[CAIRN_CALL_WORDS];
    size_t at = 0;
    memcpy(words, call->words, sizeof words);
    for (unsigned buffer = 0; buffer < call->method.count; buffer++) {
        unsigned word = call->method.words[buffer];
        memcpy(bytes + at, (void *)words[word], words[word + 1]);
        words[word] = (uint64_t)(bytes + at);
        at += pages(words[word + 1]);
    }
    struct cairn_wide_reply reply =
        cairn_wide_call(call->number, words[1], words[2], words[3], words[4], words[5], words[6], words[7]);
    for (unsigned buffer = 0; buffer < call->method.count; buffer++) {
        unsigned word = call->method.words[buffer];
        if (call->method.written & 1 << buffer)
            memcpy((void *)call->words[word], (void *)words[word], words[word + 1]);
    }
    memset(bytes, 0, at);
    memcpy(call->values, reply.words, sizeof reply.words);
    return reply.status;
}

/* The name of a service of Linux' own, as others know it; its length. */
static size_t own_name(const char *name, char *room)
{
    return (size_t)snprintf(room, 2 * NAME, "%s.%s", cairn_startup()->name, name);
}

extern char linux_gates[];

/* Of Linux' own. The methods of one that has been served stay: portals that lead here were made for them. */
static struct {
    volatile bool is_open;
    struct cairn_method_form methods[CAIRN_METHODS];
} services[CAIRN_SERVICES];

static int64_t serve(struct cairn_service_call *call, char *bytes)
{
    char *policy = bytes + PAGE, *methods = bytes + 2 * PAGE;
    size_t size = sizeof call->version;
    const char *letters = call->letters;
    memcpy(methods, &call->version, size);
    for (unsigned method = 0; *letters; method++) {
        uint64_t entry = (uint64_t)linux_gates + 8 * (call->number * CAIRN_METHODS + method);
        size_t count = strcspn(letters, " ");
        cairn_read_letters(letters, &services[call->number].methods[method]);
        memcpy(methods + size, letters, count);
        memcpy(methods + size + CAIRN_LETTERS_SIZE + 4, &entry, sizeof entry);
        size += CAIRN_LETTERS_SIZE + 4 + sizeof entry;
        letters += count + (letters[count] == ' ');
    }
    size_t length = own_name(call->name, bytes);
    strcpy(policy, call->policy);
    int64_t status = portals_register(PORTALS, bytes, length, policy, strlen(policy), methods, size);
    memset(bytes, 0, 3 * PAGE);
    return status;
}

static int64_t make(struct cairn_service_call *call, char *bytes)
{
    int64_t status;
    switch (call->kind) {
    case CAIRN_SERVICE_OPEN:
        strcpy(bytes, call->name);
        strcpy(bytes + PAGE, call->letters);
        status = portals_open(PORTALS, bytes, strlen(bytes), call->version, bytes + PAGE, strlen(bytes + PAGE), &call->values[0]);
        memset(bytes, 0, 2 * PAGE);
        return status;
    case CAIRN_SERVICE_CALL:
        return call_method(call, bytes);
    case CAIRN_SERVICE_CLOSE:
        return portals_close(PORTALS, call->number);
    default:
        return serve(call, bytes);
    }
}

static void make_calls(uint64_t number)
{
    for (;;) {
        if (semaphore_p(waiting) != 0)
            continue;
        struct cairn_service_call *call = begun[atomic_fetch_add(&from, 1) % CAIRN_CALLS];
        call->status = make(call, rooms[number].bytes);
        atomic_store_explicit((_Atomic int *)&call->is_done, 1, memory_order_release);
        raise(CAIRN_IRQ_SERVICES);
    }
}

/* ---------------------------------------------------------------------------------------------- calls of Linux */

enum { FREE, FILLED, ASKED, TAKEN, ANSWERED, LEFT };

static struct {
    struct cairn_gate gate;
    _Atomic int state;
    uint32_t answered; /* a semaphore */
} gates[CAIRN_CALLERS];

static bool changes(_Atomic int *state, int before, int after)
{
    return atomic_compare_exchange_strong(state, &before, after);
}

void cairn_gate_open(unsigned service)
{
    services[service].is_open = true;
}

void cairn_gate_answer(struct cairn_gate *gate)
{
    for (unsigned number = 0; number < callers; number++) {
        if (&gates[number].gate != gate)
            continue;
        if (changes(&gates[number].state, TAKEN, ANSWERED))
            semaphore_v(gates[number].answered);
        else
            gates[number].state = FREE;
    }
}

void cairn_gate_shut(unsigned service)
{
    struct cairn_gate *gate;
    /* Whoever asks from now on sees that. */
    services[service].is_open = false;
    while ((gate = cairn_gate_next(service))) {
        gate->status = CAIRN_ERROR_DEAD;
        cairn_gate_answer(gate);
    }
}

struct cairn_gate *cairn_gate_next(unsigned service)
{
    for (unsigned number = 0; number < callers; number++) {
        struct cairn_gate *gate = &gates[number].gate;
        if (gates[number].state != ASKED || gate->service != service || !changes(&gates[number].state, ASKED, TAKEN))
            continue;
        if (gate->service == service)
            return gate;
        /* Its caller was called home since it was looked at, and another one asks something else. */
        if (!changes(&gates[number].state, TAKEN, ASKED))
            gates[number].state = FREE;
    }
    return NULL;
}

/* Takes the buffers of a call; false: they are too large. */
static bool take_buffers(struct cairn_gate *gate, const uint64_t *words)
{
    size_t at = 0;
    for (unsigned buffer = 0; buffer < gate->form.count; buffer++) {
        unsigned word = gate->form.words[buffer];
        size_t size = words[word + 1];
        if (size > CAIRN_CALL_BYTES || pages(size) > CAIRN_CALL_BYTES - at)
            return false;
        cairn_copy_in(gate->bytes + at, (const volatile void *)words[word], size);
        gate->words[word] = at;
        at += pages(size);
        /* What an earlier call had there is nobody's business. */
        memset(gate->bytes + at - (pages(size) - size), 0, pages(size) - size);
    }
    gate->used = (unsigned)at;
    return true;
}

/* Asks, and waits for the answer; else, why there is none. */
static int64_t ask(unsigned number)
{
    _Atomic int *state = &gates[number].state;
    *state = ASKED;
    /* Who shuts it looks at this call, or it is seen here. */
    if (!services[gates[number].gate.service].is_open && changes(state, ASKED, FREE))
        return CAIRN_ERROR_DEAD;
    raise(CAIRN_IRQ_SERVICES);
    for (;;) {
        int64_t status = semaphore_p(gates[number].answered);
        if (*state == ANSWERED)
            return 0;
        /* This thread is called home. */
        if (status != 0 && (changes(state, ASKED, FREE) || changes(state, TAKEN, LEFT)))
            return status;
    }
}

/* A component calls a method of a service of Linux'. Its registers are in `words`, what it gets in `reply`. */
void linux_enter(unsigned entry, const uint64_t *words, struct cairn_wide_reply *reply)
{
    unsigned service = entry / CAIRN_METHODS, method = entry % CAIRN_METHODS, number = 0;
    memset(reply, 0, sizeof *reply);
    while (number < callers && !changes(&gates[number].state, FREE, FILLED))
        number++;
    if (number == callers) {
        reply->status = CAIRN_ERROR_BUSY;
        return;
    }
    struct cairn_gate *gate = &gates[number].gate;
    gate->service = service;
    gate->method = method;
    gate->status = CAIRN_ERROR_DEAD;
    memcpy(gate->words, words, sizeof gate->words);
    memset(gate->values, 0, sizeof gate->values);
    gate->form = services[service].methods[method];
    if (!take_buffers(gate, words)) {
        gates[number].state = FREE;
        reply->status = CAIRN_ERROR_TOO_LARGE;
        return;
    }
    reply->status = ask(number);
    if (reply->status != 0)
        return;
    for (unsigned buffer = 0; buffer < gate->form.count; buffer++) {
        unsigned word = gate->form.words[buffer];
        if (gate->form.written & 1 << buffer)
            cairn_copy_out((volatile void *)words[word], gate->bytes + gate->words[word], words[word + 1]);
    }
    reply->status = gate->status;
    memcpy(reply->words, gate->values, sizeof reply->words);
    gates[number].state = FREE;
}

void end_services(void)
{
    for (unsigned service = 0; service < CAIRN_SERVICES; service++)
        cairn_gate_shut(service);
    for (unsigned number = 0; number < callers; number++) {
        if (gates[number].state == TAKEN) {
            gates[number].gate.status = CAIRN_ERROR_DEAD;
            cairn_gate_answer(&gates[number].gate);
        }
    }
}

/* ---------------------------------------------------------------------------------------------- beginning */

void begin_services(uint64_t count)
{
    static CAIRN_STACK(8192) stacks[CAIRN_CALLERS] = { CAIRN_GUARDED, CAIRN_GUARDED, CAIRN_GUARDED, CAIRN_GUARDED };
    if (count > CAIRN_CALLERS)
        cairn_panic("the argument `callers` is at most 4");
    callers = (uint32_t)count;
    if (callers > 0)
        waiting = make_semaphore();
    for (uint32_t number = 0; number < callers; number++) {
        gates[number].answered = make_semaphore();
        begin_thread(make_calls, number, stacks[number].bytes);
    }
}
