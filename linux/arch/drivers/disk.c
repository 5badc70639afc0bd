// SPDX-License-Identifier: GPL-2.0-only
/* The disk `/dev/cda`: requests go to a thread of the component, which calls who serves the blocks, and come back by an interrupt. */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/major.h>
#include <linux/workqueue.h>
#include <asm/cairn.h>
#include <asm/devices.h>
#include <asm/snapshot.h>

static struct gendisk *disk;
static struct blk_mq_tag_set tags;
static DECLARE_COMPLETION(there);

static blk_status_t begin_request(struct blk_mq_hw_ctx *context, const struct blk_mq_queue_data *data)
{
	struct request *request = data->rq;
	struct cairn_disk_request *ours = blk_mq_rq_to_pdu(request);
	struct req_iterator at;
	struct bio_vec piece;

	ours->count = 0;
	ours->first = blk_rq_pos(request);
	switch (req_op(request)) {
	case REQ_OP_READ:
		ours->kind = CAIRN_DISK_READ;
		break;
	case REQ_OP_WRITE:
		ours->kind = CAIRN_DISK_WRITE;
		break;
	case REQ_OP_FLUSH:
		ours->kind = CAIRN_DISK_FLUSH;
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	if (ours->kind != CAIRN_DISK_FLUSH) {
		rq_for_each_bvec(piece, request, at) {
			if (WARN_ON_ONCE(ours->count == CAIRN_DISK_PIECES))
				return BLK_STS_IOERR;
			ours->pieces[ours->count].bytes = bvec_virt(&piece);
			ours->pieces[ours->count].size = piece.bv_len;
			ours->count++;
		}
	}
	blk_mq_start_request(request);
	cairn_disk_begin(ours);
	return BLK_STS_OK;
}

static const struct blk_mq_ops queue_operations = {
	.queue_rq = begin_request,
};

/* What the kernel knows of the disk's content is a life's own: the disk goes on. */
static int open_disk(struct block_device *device, fmode_t mode)
{
	cairn_hold_snapshot();
	return 0;
}

static void close_disk(struct gendisk *disk, fmode_t mode)
{
	cairn_release_snapshot();
}

static const struct block_device_operations operations = {
	.owner = THIS_MODULE,
	.open = open_disk,
	.release = close_disk,
};

/* Is shown, or about to be, as it is in this life. */
static bool is_shown;

static void show(struct work_struct *work)
{
	static bool is_there;
	unsigned long size;
	int read_only;

	local_irq_disable();
	size = cairn_disk_size(&read_only);
	/* If a snapshot was made on the way here, a later life does not know it yet. */
	is_shown = size != 0;
	local_irq_enable();
	if (!size)
		return;
	set_capacity_and_notify(disk, size);
	set_disk_ro(disk, read_only);
	if (!is_there && device_add_disk(NULL, disk, NULL))
		pr_err("cairn: no disk\n");
	is_there = true;
	complete(&there);
}
static DECLARE_WORK(showing, show);

/* Once the size is known; with interrupts off. */
static void show_when_known(void)
{
	int read_only;

	if (!is_shown && cairn_disk_size(&read_only)) {
		is_shown = true;
		schedule_work(&showing);
	}
}

/* Who begins the system, or goes on in a later life, may use it at once. A disk that comes later is there when it comes. */
static void wait_until_shown(void)
{
	local_irq_disable();
	show_when_known();
	local_irq_enable();
	wait_for_completion_timeout(&there, HZ);
}

void cairn_show_disk_again(void)
{
	if (!disk)
		return;
	reinit_completion(&there);
	is_shown = false;
	wait_until_shown();
}

static irqreturn_t take(int irq, void *data)
{
	struct cairn_disk_request *ours;

	show_when_known();
	while ((ours = cairn_disk_done()))
		blk_mq_end_request(blk_mq_rq_from_pdu(ours), ours->status ? BLK_STS_IOERR : BLK_STS_OK);
	return IRQ_HANDLED;
}

static int __init disk_init(void)
{
	int error;

	if (!cairn_given.has_disk)
		return 0;
	tags.ops = &queue_operations;
	tags.nr_hw_queues = 1;
	tags.queue_depth = CAIRN_DISK_REQUESTS;
	tags.numa_node = NUMA_NO_NODE;
	tags.cmd_size = sizeof(struct cairn_disk_request);
	tags.flags = BLK_MQ_F_SHOULD_MERGE;
	error = blk_mq_alloc_tag_set(&tags);
	if (error)
		return error;
	disk = blk_mq_alloc_disk(&tags, NULL);
	if (IS_ERR(disk)) {
		blk_mq_free_tag_set(&tags);
		return PTR_ERR(disk);
	}
	strscpy(disk->disk_name, "cda", sizeof(disk->disk_name));
	disk->fops = &operations;
	blk_queue_logical_block_size(disk->queue, CAIRN_DISK_BLOCK);
	blk_queue_max_hw_sectors(disk->queue, CAIRN_DISK_BYTES / SECTOR_SIZE);
	blk_queue_max_segments(disk->queue, CAIRN_DISK_PIECES);
	blk_queue_write_cache(disk->queue, true, false);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, disk->queue);
	error = request_irq(CAIRN_IRQ_DISK, take, 0, "disk", NULL);
	if (error)
		return error;
	/* The first interrupt may have come before there was anybody to take it. */
	wait_until_shown();
	return 0;
}
device_initcall(disk_init);
