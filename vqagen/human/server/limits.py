"""Limits on requests: token buckets for each session and each part of the network, in memory only."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address, ip_network

MOST_BUCKETS = 20_000
"""Buckets that are kept; the one that was not used for longest goes first, and is full when it is needed again."""
PREFIXES = {4: 24, 6: 64}
"""Version of an address -> its bits that a bucket is for."""


class Buckets:
    """A token bucket for each key: `rate` requests a second, `burst` at once. A rate of 0 sets no limit."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, now: float) -> bool:
        """Take one token at a time in seconds; return False if there is none."""
        tokens, before = self._buckets.pop(key, (self._burst, now))
        tokens = min(self._burst, tokens + (now - before) * self._rate)
        is_enough = tokens >= 1 or not self._rate
        self._buckets[key] = (tokens - is_enough, now)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return is_enough


@lru_cache(4096)
def network_of(client: str) -> str:
    """Return the part of the network that an address lies in.

    >>> network_of("198.51.100.7"), network_of("2001:db8:1:2:3::4"), network_of("unix")
    ('198.51.100.0', '2001:db8:1:2::', 'unix')
    """
    with suppress(ValueError):
        address = ip_address(client.partition("%")[0])
        return str(ip_network((address, PREFIXES[address.version]), strict=False).network_address)
    return client
