"""The gallery is what the product makes: `scripts/gallery` would write its pages again as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="the extra `draw` makes pictures")

import gallery

MOST_BYTES, MOST_OF_THE_FIRST = 4_000_000, 300_000


@pytest.mark.slow
def test_the_gallery_is_made_again_as_it_is(tmp_path: Path) -> None:
    """All pages and, as no scene has changed, the same pictures."""
    for name in ("gallery", "images"):
        shutil.copytree(gallery.DOCS / name, tmp_path / name)

    gallery.main(tmp_path)

    assert contents(tmp_path) == contents(gallery.DOCS)


def test_the_pictures_are_small() -> None:
    """Everybody who clones the repository gets them."""
    made = contents(gallery.DOCS)

    assert sum(map(len, made.values())) < MOST_BYTES
    assert len(made["images/first.webp"]) < MOST_OF_THE_FIRST


def contents(docs: Path) -> dict[str, bytes]:
    """Return the files of the gallery."""
    files = sorted(path for name in ("gallery", "images") for path in (docs / name).rglob("*") if path.is_file())
    return {path.relative_to(docs).as_posix(): path.read_bytes() for path in files}
