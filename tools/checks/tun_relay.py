#!/usr/bin/env python3
"""A line between two network namespaces that delays every packet.

    python3 tools/checks/tun_relay.py NAMESPACE ADDRESS NAMESPACE ADDRESS --delay-ms 10

Makes a TUN device `relay` in each namespace, with its address in a network of both (10.0.0.1/24),
and carries packets from one to the other, each DELAY after it came; without loss and in order.
Prints "ready" and works until it is ended; the devices go with it. Needs root.
"""

import argparse
import collections
import fcntl
import os
import select
import struct
import subprocess
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
# Large packets: a round through this program takes the same time for few bytes as for many.
PACKET_BYTES = 65000


def make_device(number, namespace, address):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    name = f"tunrelay{number}"
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    inside = ["ip", "-n", namespace]
    for command in (["ip", "link", "set", name, "netns", namespace],
                    [*inside, "link", "set", name, "name", "relay"],
                    [*inside, "address", "add", address, "dev", "relay"],
                    [*inside, "link", "set", "relay", "mtu", str(PACKET_BYTES), "txqueuelen",
                     "10000", "up"]):
        subprocess.run(command, check=True)
    return device


def relay(devices, delay):
    waiting = [collections.deque(), collections.deque()]  # packets for each device: (when, bytes)
    while True:
        now = time.monotonic()
        for device, packets in zip(devices, waiting):
            while packets and packets[0][0] <= now:
                try:
                    os.write(device, packets[0][1])
                except OSError:
                    pass  # the device is down: the packet is lost
                packets.popleft()
        due = min((packets[0][0] for packets in waiting if packets), default=now + 1)
        readable = select.select(devices, [], [], max(0, due - time.monotonic()))[0]
        for number, device in enumerate(devices):
            if device not in readable:
                continue
            try:
                while True:
                    packet = os.read(device, PACKET_BYTES + 100)
                    waiting[1 - number].append((time.monotonic() + delay, packet))
            except BlockingIOError:
                pass
            except OSError:
                time.sleep(0.01)  # the device is down


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("ends", nargs=4, metavar="NAMESPACE ADDRESS")
    parser.add_argument("--delay-ms", type=float, default=10)
    arguments = parser.parse_args()
    devices = [make_device(number, *arguments.ends[2 * number:2 * number + 2])
               for number in range(2)]
    print("ready", flush=True)
    relay(devices, arguments.delay_ms / 1000)


if __name__ == "__main__":
    main()
