"""The settings of `vqagen human serve`. Light to import: the help of the command needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from vqagen.human.store.opening import DURABILITIES, STRICT
from vqagen.tasks.settings import CheckedSettings, setting

PORT = 8087
LARGEST_PORT = 65535
LOCAL_URL = f"http://127.0.0.1:{PORT}"
_PATH = re.compile(r"(/[A-Za-z0-9_~][A-Za-z0-9._~-]*)*/?")
_SOURCES = re.compile(r"'none'|'self'|(https://[A-Za-z0-9.*-]+(:[0-9]+)?)( https://[A-Za-z0-9.*-]+(:[0-9]+)?)*")


@dataclass(frozen=True)
class ServeSettings(CheckedSettings):
    """Where a study is served, to whom, and how much at once."""

    host: str = setting("127.0.0.1", "Address to listen on. A reverse proxy on this machine reaches the default.")
    port: int = setting(PORT, "Port to listen on; 0 for any that is free.", least=0)
    public_url: str = setting("", "Address that raters open, such as https://study.example. [default: the local one]")
    store: str = setting("", "Answers: sqlite:PATH or redis://HOST/DB. [default: as serving.json says]")
    redis_durability: str = setting(
        STRICT, "strict: Redis must keep every answer through a loss of power.", choices=DURABILITIES
    )
    forwarded_allow_ips: str = setting(
        "127.0.0.1", "Addresses of proxies whose X-Forwarded-For is believed, separated by commas."
    )
    insecure_http: bool = setting(False, "Serve raters without https. Ids and answers can then be read on the way.")
    client_rate: int = setting(
        50, "Requests a second of one network, with bursts of four times as many; 0: any, also of one rater.", least=0
    )
    frame_ancestors: str = setting("'none'", "Sites that may show the page in a frame: 'none', 'self' or https://….")

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if self.port > LARGEST_PORT:
            yield f"--port must be at most {LARGEST_PORT}, found {self.port}"
        if not _SOURCES.fullmatch(self.frame_ancestors):
            yield f"--frame-ancestors must be 'none', 'self' or https addresses, found {self.frame_ancestors!r}"
        if self.public_url:
            yield from url_faults(self.public_url, insecure_http=self.insecure_http)
        elif not is_local(self.host) and not self.insecure_http:
            yield (
                f"--host {self.host} can be reached by others, and the study has no https address; give --public-url"
                " https://… of the proxy before it, or --insecure-http to send ids and answers unprotected"
            )

    @property
    def is_https(self) -> bool:
        """True if raters use https."""
        return self.public_url.startswith("https://")


def url_faults(text: str, *, insecure_http: bool) -> Iterator[str]:
    """Yield what is wrong with a public URL."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port == 0 or parts.scheme not in ("http", "https") or not text.isascii():
        yield f"--public-url must be an address such as https://study.example, found {text!r}"
    elif not _PATH.fullmatch(parts.path) or parts.query or parts.fragment or "@" in parts.netloc:
        yield f"--public-url must be host, port and path alone, such as https://lab.example/study, found {text!r}"
    elif parts.scheme == "http" and not is_local(host) and not insecure_http:
        yield (
            f"--public-url {text} has no https; use a proxy with a certificate, or --insecure-http to send ids and"
            " answers unprotected"
        )


def is_local(host: str) -> bool:
    """True for a name or address of this machine that no other machine can use."""
    with suppress(ValueError):
        return host == "localhost" or ip_address(host).is_loopback
    return False
