// SPDX-License-Identifier: GPL-2.0-only
/* The network `eth0`: threads of the component send frames and wait for them. */
#include <linux/completion.h>
#include <linux/etherdevice.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <asm/cairn.h>
#include <asm/devices.h>

static struct net_device *network;
static struct napi_struct arrivals;
static DECLARE_COMPLETION(there);

static int open_network(struct net_device *device)
{
	napi_enable(&arrivals);
	netif_start_queue(device);
	/* What came before. */
	napi_schedule(&arrivals);
	return 0;
}

static int close_network(struct net_device *device)
{
	netif_stop_queue(device);
	napi_disable(&arrivals);
	return 0;
}

static netdev_tx_t transmit(struct sk_buff *frame, struct net_device *device)
{
	unsigned long flags;

	/* The interrupt that says there is room again comes after the queue has stopped. */
	local_irq_save(flags);
	cairn_network_send(frame->data, frame->len);
	if (!cairn_network_has_room())
		netif_stop_queue(device);
	local_irq_restore(flags);
	device->stats.tx_packets++;
	device->stats.tx_bytes += frame->len;
	dev_consume_skb_any(frame);
	return NETDEV_TX_OK;
}

static int receive(struct napi_struct *napi, int budget)
{
	const void *bytes;
	unsigned long size;
	int done = 0;

	while (done < budget && (size = cairn_network_first(&bytes))) {
		struct sk_buff *frame = napi_alloc_skb(napi, size);

		if (frame && size >= ETH_HLEN) {
			skb_put_data(frame, bytes, size);
			network->stats.rx_packets++;
			network->stats.rx_bytes += size;
			frame->protocol = eth_type_trans(frame, network);
			napi_gro_receive(napi, frame);
		} else {
			network->stats.rx_dropped++;
			kfree_skb(frame);
		}
		cairn_network_taken();
		done++;
	}
	if (done < budget)
		napi_complete_done(napi, done);
	return done;
}

static const struct net_device_ops operations = {
	.ndo_open = open_network,
	.ndo_stop = close_network,
	.ndo_start_xmit = transmit,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

/* Is shown, or about to be, in this life. */
static bool is_shown;

static void show(struct work_struct *work)
{
	unsigned long address;

	local_irq_disable();
	address = cairn_network_address();
	/* If a snapshot was made on the way here, a later life does not know it yet. */
	is_shown = address != 0;
	local_irq_enable();
	if (!address)
		return;
	eth_hw_addr_set(network, (u8 *)&address);
	if (register_netdev(network))
		pr_err("cairn: no network\n");
	complete(&there);
}
static DECLARE_WORK(showing, show);

/* Once the address is known; with interrupts off. */
static void show_when_known(void)
{
	if (!is_shown && cairn_network_address()) {
		is_shown = true;
		schedule_work(&showing);
	}
}

static irqreturn_t take(int irq, void *data)
{
	show_when_known();
	if (netif_running(network)) {
		if (netif_queue_stopped(network) && cairn_network_has_room())
			netif_wake_queue(network);
		napi_schedule(&arrivals);
	}
	return IRQ_HANDLED;
}

static int __init network_init(void)
{
	int error;

	if (!cairn_given.has_network)
		return 0;
	network = alloc_etherdev(0);
	if (!network)
		return -ENOMEM;
	network->netdev_ops = &operations;
	netif_napi_add(network, &arrivals, receive);
	error = request_irq(CAIRN_IRQ_NETWORK, take, 0, "network", NULL);
	if (error) {
		free_netdev(network);
		return error;
	}
	/* The first interrupt may have come before there was anybody to take it. */
	local_irq_disable();
	show_when_known();
	local_irq_enable();
	/* Who begins the system finds it there. One that comes later is there when it comes. */
	wait_for_completion_timeout(&there, HZ);
	return 0;
}
device_initcall(network_init);
