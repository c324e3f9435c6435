"""The settings of the commands, in the order of a study. Light to import: the help of the commands needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from vqagen.errors import unknown
from vqagen.tasks.settings import CheckedSettings, setting


@dataclass(frozen=True)
class ItemSettings(CheckedSettings):
    """Which items are made."""

    seed: int = setting(0, "Random seed: the same seed and inputs give the same items.")
    per_image: int = setting(1, "Questions or dialogs about each scene, at most.", least=0)


@dataclass(frozen=True)
class PlanSettings(CheckedSettings):
    """All that decides which trials a study has, apart from its inputs."""

    seed: int = setting(0, "Random seed: the same seed and inputs give the same study.")
    num_images: int = setting(1000, "Images to draw at random from the captions; 0 for all.", least=0)
    trials_per_task: int = setting(10, "Trials of a task, checks and instructed trials included.", least=1)
    checks_per_task: int = setting(1, "Attention checks in each task: a right text against a wrong one.", least=0)
    imc_per_task: int = setting(0, "Instructed trials in each task, which name the number to choose.", least=0)
    raters_per_item: int = setting(3, "How many people do each task.", least=1)
    human_human: bool = setting(False, "Also compare two human captions of each image: the noise floor.")

    @property
    def real_per_task(self) -> int:
        """The largest number of trials in a task that are scored; a longer series makes a longer task."""
        return self.trials_per_task - self.checks_per_task - self.imc_per_task


# Links and serving ----------------------------------------------------------------------------------------------------

TASK, PERSONAL, GENERAL, PREVIEW = LINK_MODES = "task", "personal", "general", "preview"
NEVER = "never"
HUMANR_CSV, CSV, TASKFLOW, TXT = LINK_FORMATS = "humanr-csv", "csv", "taskflow-json", "txt"
STRICT, RELAXED = DURABILITIES = "strict", "relaxed"
"""Redis must keep every acknowledged answer through a loss of power; or may lose the last second."""
PORT = 8087
LARGEST_PORT = 65535
LOCAL_URL = f"http://127.0.0.1:{PORT}"
_PATH = re.compile(r"(/[A-Za-z0-9_~][A-Za-z0-9._~-]*)*/?")
_SOURCES = re.compile(r"'none'|'self'|(https://[A-Za-z0-9.*-]+(:[0-9]+)?)( https://[A-Za-z0-9.*-]+(:[0-9]+)?)*")


@dataclass(frozen=True)
class LinkSettings(CheckedSettings):
    """For whom links are, and how they are written."""

    mode: str = setting(
        TASK,
        "A link for each task, for each rater of a task (personal), for all (general), or to look at it (preview).",
        choices=LINK_MODES,
    )
    format: str = setting(
        HUMANR_CSV,
        "One column HIT_Link; task, slot, places, link; fields of a Prolific study; a link a line.",
        choices=LINK_FORMATS,
    )
    batch_size: int = setting(500, "Most links in a file.", least=1)
    public_url: str = setting(LOCAL_URL, "Address that raters open.")
    insecure_http: bool = setting(False, "Accept an address without https.")
    expires: str = setting(
        "",
        "Last day of the links, such as 2026-12-31. [default: link_days of serving.json from now]",
        metavar=f"DAY|{NEVER}",
    )
    new_key: bool = setting(
        False,
        "Sign with a new key. To refuse older links, delete the line before it in `secret`, and restart the server.",
    )

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        yield from url_faults(self.public_url, insecure_http=self.insecure_http)


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


# Scores ---------------------------------------------------------------------------------------------------------------

HUMANR, CLUSTER, BRADLEY_TERRY = METHODS = "humanr", "cluster", "bt"
CHECKS, INSTRUCTED, PARTIAL, FAST, STRAIGHT, SIDE, WEBDRIVER = FLAGS = (
    *("checks", "instructed", "partial", "fast", "straight", "side", "webdriver"),
)
"""Reasons to doubt answers. The first three are of an assignment, the others of a rater."""
_RETIRED = {
    "bootstrap": "--method bootstrap was removed in version 2.0: intervals of `cluster` are by raters and images, too",
}
"""Method that version 2.0 removed -> what to do instead."""
NOTHING = "none"
INTERVAL, ORDINAL, NOMINAL = ALPHAS = "interval", "ordinal", "nominal"


@dataclass(frozen=True)
class ScoreSettings(CheckedSettings):
    """How the answers of a study are scored."""

    method: str = setting(
        CLUSTER,
        f"Of {', '.join(METHODS)}. `humanr` gives HUMANr's own figures.",
        metavar="NAME,…",
    )
    exclude: str = setting(CHECKS, f"Leave out answers flagged as {', '.join(FLAGS)}, or `none`.", metavar="FLAG,…")
    by: str = setting("", "Fields with a table each: a stratum such as template, image, task.", metavar="FIELD,…")
    alpha: str = setting(INTERVAL, "Differences that Krippendorff's alpha counts.", choices=ALPHAS)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods in their own order."""
        return tuple(method for method in METHODS if method in _names(self.method))

    @property
    def excluded(self) -> tuple[str, ...]:
        """The flags whose answers are left out."""
        return tuple(flag for flag in FLAGS if flag in _names(self.exclude))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that scores are grouped by."""
        return tuple(dict.fromkeys(_names(self.by)))

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        methods, flags = _names(self.method), _names(self.exclude)
        strange = [method for method in methods if method not in METHODS]
        yield from (_RETIRED.get(method) or f"--method: {unknown('method', method, METHODS)}" for method in strange)
        if not methods:
            yield f"--method is empty; name some of {', '.join(METHODS)}"
        known = (*FLAGS, NOTHING)
        yield from (f"--exclude: {unknown('flag', flag, known)}" for flag in flags if flag not in known)
        if NOTHING in flags and len(flags) > 1:
            yield f"--exclude {self.exclude} contradicts itself; give `none` alone"


def _names(text: str) -> list[str]:
    """Return the names of a list such as `checks,fast`."""
    return [name for name in map(str.strip, text.split(",")) if name]
