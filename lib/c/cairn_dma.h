/* Memory that a device reaches by itself (DMA), and what a driver does to such a device: lib/cairn/src/dma.rs in C, and
 * the end of a queue at which a virtio device says what it has done.
 *
 * A device finds memory at addresses of its own. A virtio device's driver needs none of them: it names buffers by their
 * offsets, and portals check those (abi/src/device.rs). */
#ifndef CAIRN_DMA_H
#define CAIRN_DMA_H

#include "cairn.h"

/* ----------------------------------------------------------------------------------------- buffers */

/* The instance's memory for DMA, zeroed at its start, or a part of it. The device may write it at any time: it is read
 * as `volatile`, each byte once. */
struct cairn_buffer {
    uint32_t offset; /* from the first byte of that memory */
    size_t size;
    volatile uint8_t *bytes;
};

/* All of it; without `dma` in the description its size is 0. */
static inline struct cairn_buffer cairn_dma(void)
{
    const struct cairn_startup *startup = cairn_startup();
    return (struct cairn_buffer){ 0, (size_t)startup->dma_size, (volatile uint8_t *)startup->dma };
}

/* A part; a panic if it is not in it. */
static inline struct cairn_buffer cairn_buffer_part(struct cairn_buffer whole, size_t offset, size_t size)
{
    if (offset > whole.size || size > whole.size - offset)
        cairn_panic("a part outside the buffer: the description's `dma` is too small for it");
    return (struct cairn_buffer){ whole.offset + (uint32_t)offset, size, whole.bytes + offset };
}

/* Where a device finds a buffer, for drivers that write addresses themselves; they have to be trusted. */
static inline uint64_t cairn_buffer_address(const struct cairn_mapping *device, struct cairn_buffer buffer)
{
    return device->device_address + buffer.offset;
}

/* Orders what was read and written before, registers and memory, before all that comes behind: for a driver that writes registers
 * itself, as before it tells its device of memory, or after it was told. `volatile` orders nothing on the hart (unprivileged
 * manual, section 2.7). The portals of a virtio device do it. */
static inline void cairn_device_fence(void)
{
    __asm__ volatile("fence iorw, iorw" ::: "memory");
}

/* The word that names a buffer to the portals of a queue: bits 0 to 15 its size, 16 whether another descriptor follows, 17
 * whether the device writes it, 40 to 63 its offset. 0, which ends a list: it is empty, or has 64 KiB and more. */
static inline uint64_t cairn_descriptor(struct cairn_buffer buffer, bool device_writes, bool has_next)
{
    if (buffer.size == 0 || buffer.size >= 1 << 16)
        return 0;
    return buffer.size | (uint64_t)has_next << 16 | (uint64_t)device_writes << 17 | (uint64_t)buffer.offset << 40;
}

/* ----------------------------------------------------------------------------------------- a device */

/* The place in the description's list of devices, by which the device owner (`devices_begin`) knows it. */
static inline uint64_t cairn_device_position(const struct cairn_mapping *device)
{
    return (uint64_t)(device - cairn_startup()->devices);
}

/* Calls a device's portal. A device without: the description does not give it as one of a virtio kind. */
static inline int64_t cairn_device_call(const struct cairn_mapping *device, uint64_t operation, uint64_t word,
                                        const uint64_t words[CAIRN_POSTED_MAXIMUM])
{
    _Static_assert(CAIRN_POSTED_MAXIMUM == 6, "as many words as are passed below");
    if (device->device_portal == 0)
        return CAIRN_ERROR_NOT_SUPPORTED;
    return cairn_call(device->device_portal + operation, word, words[0], words[1], words[2], words[3], words[4], words[5])
        .status;
}

static inline int64_t cairn_device_write_descriptors(const struct cairn_mapping *device, uint64_t operation,
                                                     unsigned queue, uint16_t first, const uint64_t *descriptors,
                                                     size_t count)
{
    uint64_t words[CAIRN_POSTED_MAXIMUM] = { 0 };
    if (queue >= device->queue_count || count == 0 || count > CAIRN_POSTED_MAXIMUM)
        return CAIRN_ERROR_BAD_ARGUMENT;
    for (size_t at = 0; at < count; at++) {
        /* The list would end there, and the buffers behind it be missing. */
        if (descriptors[at] == 0)
            return CAIRN_ERROR_BAD_ARGUMENT;
        words[at] = descriptors[at];
    }
    return cairn_device_call(device, operation + (uint64_t)CAIRN_DEVICE_QUEUE_PORTALS * queue, first, words);
}

/* Writes descriptors (`cairn_descriptor`) of a queue, from the one with the number `first` on; none, more than
 * CAIRN_POSTED_MAXIMUM, or one that is not in the memory for DMA, is CAIRN_ERROR_BAD_ARGUMENT. */
static inline int64_t cairn_device_post(const struct cairn_mapping *device, unsigned queue, uint16_t first,
                                        const uint64_t *descriptors, size_t count)
{
    return cairn_device_write_descriptors(device, CAIRN_DEVICE_POST, queue, first, descriptors, count);
}

/* Writes them, gives the device the chain that begins at `first`, and tells it. Other threads can do so at the same
 * time. */
static inline int64_t cairn_device_offer(const struct cairn_mapping *device, unsigned queue, uint16_t first,
                                         const uint64_t *descriptors, size_t count)
{
    return cairn_device_write_descriptors(device, CAIRN_DEVICE_OFFER, queue, first, descriptors, count);
}

/* Says that a queue has something. */
static inline int64_t cairn_device_notify(const struct cairn_mapping *device, unsigned queue)
{
    const uint64_t none[CAIRN_POSTED_MAXIMUM] = { 0 };
    return cairn_device_call(device, CAIRN_DEVICE_NOTIFY, queue, none);
}

/* Acknowledges why it interrupts; `reasons`, if it is not NULL, is told. A panic says so if the device has stopped, since it met
 * what it does not understand: until its reset it answers nothing. */
static inline int64_t cairn_device_acknowledge(const struct cairn_mapping *device, uint32_t *reasons)
{
    const uint64_t none[CAIRN_POSTED_MAXIMUM] = { 0 };
    uint32_t found = cairn_read32(device, CAIRN_DEVICE_INTERRUPT_STATUS);
    if (reasons)
        *reasons = found;
    int64_t status = cairn_device_call(device, CAIRN_DEVICE_ACKNOWLEDGE, found, none);
    if (status == 0 && (found & CAIRN_DEVICE_CONFIGURATION_CHANGED)
        && (cairn_read32(device, CAIRN_DEVICE_STATUS) & CAIRN_DEVICE_NEEDS_RESET)) {
        char line[128] = "`";
        strncat(line, device->name, CAIRN_NAME_SIZE);
        strcat(line, "` has stopped: expected requests that its specification allows");
        cairn_panic(line);
    }
    return status;
}

/* A word of its configuration, at a multiple of 4. */
static inline uint32_t cairn_device_configuration(const struct cairn_mapping *device, size_t offset)
{
    return cairn_read32(device, CAIRN_DEVICE_CONFIGURATION + offset);
}

/* Writes one. */
static inline int64_t cairn_device_configure(const struct cairn_mapping *device, size_t offset, uint32_t word)
{
    const uint64_t words[CAIRN_POSTED_MAXIMUM] = { word };
    return cairn_device_call(device, CAIRN_DEVICE_CONFIGURE, offset, words);
}

/* -------------------------------------------------------------------------- what a device has done */

/* That end of a queue. One thread has it. */
struct cairn_done {
    volatile uint8_t *ring;
    uint16_t size, next;
};

/* Of a device that has begun. How many descriptors the queue has follows from the kind of device: CAIRN_RANDOM_DESCRIPTORS,
 * CAIRN_BLOCK_DESCRIPTORS, ... To be made once in a life. A panic if there is no such queue. */
static inline struct cairn_done cairn_done_of(const struct cairn_mapping *device, unsigned queue, uint16_t descriptors)
{
    if (queue >= device->queue_count)
        cairn_panic("the device has no such queue");
    uint64_t rings = device->queues + ((uint64_t)queue * CAIRN_QUEUE_PAGES + 1) * CAIRN_PAGE_SIZE;
    return (struct cairn_done){ (volatile uint8_t *)rings + CAIRN_USED_RING, descriptors, 0 };
}

/* The next chain that the device has done with: its first descriptor, and how many bytes it wrote, both as the device
 * says. `false`: there is none yet. */
static inline bool cairn_done_next(struct cairn_done *done, uint32_t *first, uint32_t *length)
{
    /* Of the ring: where the index is that the device moves on, and where its entries begin, 8 bytes each (virtio 1.2, section
     * 2.7.8). */
    enum { INDEX = 2, ENTRIES = 4, ENTRY = 8 };
    if (*(volatile uint16_t *)(done->ring + INDEX) == done->next)
        return false;
    /* The index is read before the entry. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    volatile uint32_t *entry = (volatile uint32_t *)(done->ring + ENTRIES + done->next % done->size * ENTRY);
    done->next++;
    *first = entry[0];
    *length = entry[1];
    return true;
}

#endif
