"""Limits on requests: token buckets for each session and each part of the network, in memory only."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from ipaddress import IPv4Address, ip_address

MOST_BUCKETS = 20_000
"""Buckets that are kept; the one that was not used for longest goes first, and is full when it is needed again."""
IPV4_PREFIX, IPV6_PREFIX = 24, 64
"""Bits of an address that its bucket is for."""


class Buckets:
    """A token bucket for each key: `rate` requests a second, `burst` at once. A rate of 0 sets no limit."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, now: float) -> float:
        """Take one token at a time in seconds. Return 0, or after how many seconds there will be one."""
        if not self._rate:
            return 0
        tokens, before = self._buckets.pop(key, (self._burst, now))
        tokens = min(self._burst, tokens + (now - before) * self._rate)
        is_enough = tokens >= 1
        self._buckets[key] = (tokens - 1 if is_enough else tokens, now)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return 0 if is_enough else (1 - tokens) / self._rate


@lru_cache(4096)
def network_of(client: str) -> str:
    """Return the part of the network that an address lies in.

    >>> network_of("198.51.100.7"), network_of("2001:db8:1:2:3::4"), network_of("unix")
    ('198.51.100.0', '2001:db8:1:2::', 'unix')
    """
    try:
        address = ip_address(client.partition("%")[0])
    except ValueError:
        return client
    kept = IPV4_PREFIX if isinstance(address, IPv4Address) else IPV6_PREFIX
    unkept = address.max_prefixlen - kept
    return str(type(address)(int(address) >> unkept << unkept))
