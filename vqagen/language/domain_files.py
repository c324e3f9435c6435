"""What questions are made of: a domain, its functions, templates and words, and the files they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vqagen.errors import UsageError, VqagenError, unknown
from vqagen.files.reading import content_hash
from vqagen.files.shipped import require, shipped
from vqagen.language.catalogue import Catalogue
from vqagen.language.loading import find_template_files, load_templates
from vqagen.language.synonyms import Synonyms, load_synonyms
from vqagen.language.template import Template
from vqagen.plugin.loading import Plugins, load_plugins
from vqagen.world.domain import Domain, load_domain

PathLike = Path | str
DEFAULT_DOMAIN = "clevr"


@dataclass(frozen=True)
class DomainFiles:
    """Where a domain lies. Without `synonyms`, the metadata's own are used or, where it has none, the shipped ones."""

    metadata: Path
    templates: Path
    synonyms: Path | None
    plugins: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Callable[..., DomainFiles], tuple[object, ...]]:
        """For another process: it may work in another folder and, on another machine, have vqagen elsewhere."""
        paths = tuple(path and _portable(path) for path in (self.metadata, self.templates, self.synonyms))
        plugins = tuple(str(Path(name).absolute()) if Path(name).is_file() else name for name in self.plugins)
        return _arrived, (*paths, plugins)

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files and folders that are read."""
        return (self.metadata, self.templates, *([self.synonyms] if self.synonyms else []))


def _portable(path: Path) -> tuple[bool, str]:
    """Whether a path is one that vqagen ships, and its name."""
    is_shipped = path.is_relative_to(shipped(""))
    return is_shipped, path.relative_to(shipped("")).as_posix() if is_shipped else str(path.absolute())


def _arrived(*given: Any) -> DomainFiles:
    *paths, plugins = given
    metadata, templates, synonyms = (each and _placed(*each) for each in paths)
    return DomainFiles(metadata, templates, synonyms, plugins)


def _placed(is_shipped: bool, name: str) -> Path:
    return shipped(name) if is_shipped else Path(name)


@dataclass(frozen=True)
class LoadedDomain:
    """A domain, its functions, templates, and ways to say things."""

    domain: Domain
    catalogue: Catalogue
    templates: tuple[Template, ...]
    synonyms: Synonyms
    hashes: dict[str, str]
    """Content hash of each input, by its role."""


def shipped_domains() -> list[str]:
    """The names of the domains that vqagen ships."""
    return sorted(path.stem for path in shipped("metadata").glob("*.json"))


def find_domain(
    domain: PathLike | None = None,
    *,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: Sequence[str] = (),
) -> DomainFiles:
    """The files of a domain: a shipped one by its name, or a folder with `metadata.json`, `templates` and, if it has
    one, `synonyms.json`. Each file can also be given by itself; the default is CLEVR's.
    """
    found = _files_of(domain or DEFAULT_DOMAIN)
    return DomainFiles(
        require(Path(metadata) if metadata else found.metadata, "metadata"),
        Path(templates) if templates else found.templates,
        require(Path(synonyms), "synonyms") if synonyms else found.synonyms,
        tuple(plugins),
    )


def _files_of(domain: PathLike) -> DomainFiles:
    folder, name = Path(domain), str(domain)
    if (folder / "metadata.json").is_file():
        synonyms = folder / "synonyms.json"
        return DomainFiles(folder / "metadata.json", folder / "templates", synonyms if synonyms.is_file() else None)
    known = shipped_domains()
    if name not in known:
        hint = "a folder is one if it holds metadata.json" if folder.is_dir() else unknown("domain", name, known)
        raise UsageError(f"no domain at {name}: {hint}")
    return DomainFiles(shipped(f"metadata/{name}.json"), shipped(f"templates/{name}"), None)


def load_catalogue(files: DomainFiles) -> tuple[Catalogue, Plugins]:
    """A domain's vocabulary and functions, and the plug-ins that add to them."""
    plugins = load_plugins(files.plugins)
    return Catalogue(load_domain(files.metadata, plugins.declarations), plugins.declarations), plugins


def check_hashes(known: Mapping[str, str], found: Mapping[str, str]) -> None:
    """See to it that a process reads the files that its run began with (`known`): otherwise VqagenError."""
    differing = [role for role, content in known.items() if found.get(role) != content]
    if differing:
        raise VqagenError(f"a worker reads other {' and '.join(differing)} than those that the run began with")


def synonyms_file(files: DomainFiles, domain: Domain) -> Path | None:
    """The synonyms that go with a domain: its own file or, where its metadata has none either, the shipped ones."""
    return files.synonyms or (None if domain.synonyms_section else shipped("synonyms.json"))


def load_domain_files(files: DomainFiles | None = None) -> LoadedDomain:
    """Load all files of a domain (default: CLEVR's). Raises BadInput with every mistake in the first that has any."""
    files = files or find_domain()
    catalogue, plugins = load_catalogue(files)
    domain = catalogue.domain
    synonyms = synonyms_file(files, domain)
    return LoadedDomain(
        domain,
        catalogue,
        load_templates(files.templates, catalogue),
        load_synonyms(synonyms, domain),
        hashes={
            "metadata": content_hash([files.metadata]),
            "templates": content_hash([file.path for file in find_template_files(files.templates)]),
            **({"synonyms": content_hash([synonyms])} if synonyms else {}),
            **({"plugins": plugins.hash} if files.plugins else {}),
        },
    )
