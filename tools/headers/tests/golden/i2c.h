/* The interface I2c. Made from its descriptor; do not edit. */
#ifndef CAIRN_INTERFACE_I2C_H
#define CAIRN_INTERFACE_I2C_H

#include "cairn.h"

/* A bus of two wires, on which devices have addresses. Who has it talks to all of them. */

/* Portals that an import of it takes. */
#define I2C_METHODS 1

/* What a client of it knows, for portals_open (the letters) and portals_reserve (all of it). */
#define I2C_VERSION UINT64_C(0x17112b16ea667679)
#define I2C_LETTERS "cirw "
#define I2C_SIGNATURE "I2c " I2C_LETTERS

/* What a component's descriptor says of it. */
#define I2C_INTERFACE { \
    "I2c", I2C_VERSION, I2C_METHODS, { \
        { "transact", "cirw", CAIRN_VALUE_NONE } \
    } \
}

/* How a transaction can end beside success. */
enum {
    /* No device has this address. */
    I2C_ERROR_NO_DEVICE = 1,
    /* The device does not take a byte. */
    I2C_ERROR_NOT_ACKNOWLEDGED = 2,
    /* Another has taken the bus meanwhile. */
    I2C_ERROR_ARBITRATION_LOST = 3,
    /* The wires are not as they should be. */
    I2C_ERROR_BUS_FAULT = 4,
};

/* Calls. They return zero, a positive error code of the method, or a negative CAIRN_ERROR_*. */

/* One transaction with the device at an address (7 bits; 10 with [`I2C_TEN_BITS`]), in one go: a start, the
 * [`operations`](crate::operations) in order, with another start where the direction changes, and a stop. They are writes
 * and reads.
 * Errors of its own: I2C_ERROR_*.
 * Letters: cirw. */
static inline int64_t i2c_transact(uint32_t first_portal, uint64_t address, const void *operations, size_t operations_length, void *data, size_t data_length)
{
    struct cairn_reply reply = cairn_call(first_portal + 0, address, (uint64_t)operations, operations_length, (uint64_t)data, data_length, 0, 0);
    return reply.status;
}

/* A server's entry points, named SERVER_METHOD: their prototypes, and their list for the
   component's descriptor. Other threads may write the memory of a parameter at any time. */
#define I2C_SERVER(server) \
    CAIRN_C struct cairn_reply server##_transact(uint64_t control, uint64_t address, const volatile void *operations, size_t operations_length, volatile void *data, size_t data_length); CAIRN_ENTERING(server##_transact)
#define I2C_ENTRIES(server) { CAIRN_ENTRY(server##_transact) }

#endif
