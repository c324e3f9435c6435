"""The files of a domain: its metadata, templates, synonyms and plug-ins, found and loaded; and the shipped domains."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from vqagen.errors import PlaceError, UsageError, VqagenError, nearest
from vqagen.files.locations import content_hash, paths_of, require, shipped
from vqagen.files.output import linked
from vqagen.frozen import frozen
from vqagen.language.catalogue import Catalogue
from vqagen.language.loading import BadTemplates, find_template_files, raise_bad, read_template_files, warn_doubts
from vqagen.language.sentence import is_english
from vqagen.language.synonyms import Synonyms, load_synonyms
from vqagen.language.template import Template
from vqagen.plugin import NO_PLUGINS, Declarations
from vqagen.world.domain import Domain, load_domain
from vqagen.world.metadata_reader import plugins_named_by

PathLike = Path | str
METADATA, QUESTIONS, DIALOGS = "metadata", "questions", "dialogs"
SHIPPED_DOMAINS: Mapping[str, Mapping[str, str]] = {
    name: {METADATA: f"metadata/{name}.json", QUESTIONS: f"templates/{name}", DIALOGS: "templates/dialog"}
    for name in ("clevr", "market")
}
"""The places of each domain's files among the shipped data: of its metadata, and of its templates for each task."""
DEFAULT_DOMAIN = "clevr"
MORE_TEMPLATES: Mapping[str, str] = {name: f"templates/{name}" for name in ("clevr-places", "clevr-viewpoint")}
"""Folders of further shipped templates, by the names under which they are asked for in place of a domain's own."""


@frozen
class DomainFiles:
    """The places of a domain's files. Without `synonyms`, the metadata's own are used, or the shipped ones."""

    metadata: Path
    templates: Path
    synonyms: Path | None
    plugins: tuple[str, ...] = ()
    name: str | None = None
    """The shipped domain that was asked for by its name; None for metadata of one's own."""

    @property
    def known_as(self) -> str:
        """The name of a shipped domain; else that of the folder, or of a file that is not called metadata.json."""
        if self.name:
            return self.name
        folder = linked(self.metadata.parent).name
        own = folder if folder and self.metadata.name == "metadata.json" else self.metadata.stem
        return f"{own} (own)" if own in SHIPPED_DOMAINS else own

    def __reduce__(self) -> tuple[Callable[..., DomainFiles], tuple[object, ...]]:
        """Pickle for another process, which may work in another folder or on a machine with another vqagen folder."""
        paths = tuple(path and _portable(path) for path in (self.metadata, self.templates, self.synonyms))
        plugins = tuple(str(Path(name).absolute()) if Path(name).is_file() else name for name in self.plugins)
        return _unpickled, (*paths, plugins, self.name)

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files and folders that are read, with those that the metadata names."""
        synonyms = [self.synonyms] if self.synonyms else []
        return (self.metadata, self.templates, *synonyms, *plugins_named_by(self.metadata))


def _portable(path: Path) -> tuple[bool, str]:
    """Return whether vqagen ships the path, and its name among the shipped files or its absolute path.

    (True, "metadata/clevr.json") is found wherever vqagen is installed; (False, "/home/ada/farm/metadata.json") is not.
    """
    is_shipped = _is_shipped(path)
    return is_shipped, path.relative_to(shipped("")).as_posix() if is_shipped else str(path.absolute())


def _is_shipped(path: Path) -> bool:
    return path.is_relative_to(shipped(""))


def _unpickled(*pickled: Any) -> DomainFiles:
    *paths, plugins, name = pickled
    metadata, templates, synonyms = (path and (shipped(path[1]) if path[0] else Path(path[1])) for path in paths)
    return DomainFiles(metadata, templates, synonyms, plugins, name)


@frozen
class LoadedDomain:
    """A domain with its functions, templates and synonyms."""

    domain: Domain
    catalogue: Catalogue
    templates: tuple[Template, ...]
    synonyms: Synonyms
    hashes: dict[str, str]
    """Content hash of each input, by its role."""
    files: DomainFiles
    skipped: tuple[BadTemplates, ...] = ()
    """Templates with mistakes, which were left out."""

    def __reduce__(self) -> tuple[Callable[..., LoadedDomain], tuple[object, ...]]:
        """Pickle templates as they are: 9,000 are unpickled in 0.2 s and read in 3. The other files are read again.

        The hashes are then of the files that are there: who has the first ones compares.
        """
        return _with_templates, (self.files, self.catalogue, self.templates, self.skipped)


def find_domain(
    domain: PathLike | None = None,
    *,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
    task: str | None = None,
) -> DomainFiles:
    """Return the files of a domain, by default CLEVR's; each file can also be given by itself.

    A plain name is a shipped domain, whose templates for a `task` are taken: questions or dialogs. A `Path`, or
    text that is written as a path (`./farm`, `data/farm`), is a folder with `metadata.json`, `templates` and perhaps
    `synonyms.json` and `dialogs`, the templates of dialogs. Where `metadata` is all that is given, and templates lie
    beside it, its folder is the domain. Raises UsageError if there is no such domain.
    """
    # `--metadata farm/metadata.json` alone means the folder farm, if templates lie there.
    if metadata and not (domain or templates) and any(_own_templates(Path(metadata).parent, task).glob("*.json")):
        files = _files_in(Path(metadata), task)
    else:
        files = _files_of(domain or DEFAULT_DOMAIN, task)
    return DomainFiles(
        require(Path(metadata) if metadata else files.metadata, "metadata"),
        _templates_at(templates) if templates else files.templates,
        require(Path(synonyms), "synonyms") if synonyms else files.synonyms,
        paths_of(plugins),
        None if metadata else files.name,
    )


def _templates_at(given: PathLike) -> Path:
    """Return the path that is meant by a path, or by the name of shipped templates if nothing has this name here."""
    named = MORE_TEMPLATES.get(str(given))
    return shipped(named) if named and not Path(given).exists() else Path(given)


def _files_of(domain: PathLike, task: str | None) -> DomainFiles:
    if is_written_as_path(domain):
        folder = Path(domain)
        if not (folder / "metadata.json").is_file():
            hint = "a domain's folder holds metadata.json" if folder.is_dir() else "there is no such folder"
            raise PlaceError(f"no domain at {domain}: {hint}")
        return _files_in(folder / "metadata.json", task)
    listed = SHIPPED_DOMAINS.get(str(domain))
    if listed is None:
        is_here = Path(domain).is_dir()
        advice = f"write ./{domain} for the folder of that name" if is_here else f"known: {', '.join(SHIPPED_DOMAINS)}"
        close = nearest(str(domain), SHIPPED_DOMAINS)
        hint = f"did you mean {close!r}?" if close and not is_here else advice
        raise UsageError(f"vqagen ships no domain {str(domain)!r}; {hint}")
    templates = listed[DIALOGS if task == DIALOGS else QUESTIONS]
    return DomainFiles(shipped(listed[METADATA]), shipped(templates), None, name=str(domain))


def _files_in(metadata: Path, task: str | None) -> DomainFiles:
    """Return the files beside the metadata. The shipped templates of dialogs fit every domain."""
    templates, synonyms = _own_templates(metadata.parent, task), metadata.parent / "synonyms.json"
    if task == DIALOGS and not templates.is_dir():
        templates = shipped(SHIPPED_DOMAINS[DEFAULT_DOMAIN][DIALOGS])
    return DomainFiles(metadata, templates, synonyms if synonyms.is_file() else None)


def _own_templates(folder: Path, task: str | None) -> Path:
    return folder / ("dialogs" if task == DIALOGS else "templates")


def is_written_as_path(domain: PathLike) -> bool:
    """True for a `Path`, and for text that names a folder by a slash or dots alone: `./farm`, `farm/`, `..`."""
    separators = ("/", os.sep, os.altsep or os.sep)
    return isinstance(domain, Path) or domain in (".", "..") or any(separator in domain for separator in separators)


def load_catalogue(files: DomainFiles) -> tuple[Catalogue, Declarations]:
    """Load a domain's vocabulary and functions, and the plug-ins that add to them: the metadata's, then the others."""
    names, plugins = [*map(str, plugins_named_by(files.metadata)), *files.plugins], NO_PLUGINS
    if names:
        from vqagen.plugin.loading import load_plugins  # what most domains do not need

        plugins = load_plugins(names)
    catalogue = Catalogue(load_domain(files.metadata, plugins), plugins)
    # Functions are closures, which cannot be pickled: another process loads the files again.
    catalogue.reload = _reload_catalogue, (files, _identity(catalogue))
    return catalogue, plugins


@lru_cache(maxsize=8)
def _reload_catalogue(files: DomainFiles, identity: str) -> Catalogue:
    """Load a pickled catalogue, once in a process. Its files must be those that it was pickled with."""
    catalogue, _ = load_catalogue(files)
    if _identity(catalogue) != identity:
        raise VqagenError(f"{files.metadata} or a plug-in was changed; what was pickled cannot be loaded")
    return catalogue


def _identity(catalogue: Catalogue) -> str:
    """Return a text that differs if the metadata or the plug-ins differ."""
    metadata = hashlib.sha256(catalogue.domain.text.encode()).hexdigest()
    return " ".join((metadata, *plugin_hashes(catalogue.plugins).values()))


def rules_hashes(files: DomainFiles) -> dict[str, str]:
    """Return the content hashes of what decides how scenes are drawn: the metadata, and plug-ins if there are any."""
    _, plugins = load_catalogue(files)
    return {"metadata": content_hash([files.metadata]), **plugin_hashes(plugins)}


def plugin_hashes(plugins: Declarations) -> dict[str, str]:
    """Return the content hash of plug-ins, if there are any."""
    return {"plugins": plugins.hash} if plugins.hashes else {}


def check_hashes(known: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Raise VqagenError if a worker reads other files than its run, whose content hashes are `known`, began with."""
    differing = [role for role, content in known.items() if found.get(role) != content]
    if differing:
        raise VqagenError(f"a worker reads other {' and '.join(differing)} than the run began with")


def synonyms_file(files: DomainFiles, domain: Domain) -> Path | None:
    """Return the synonyms file of a domain: its own, or the shipped one of English if nothing of it has synonyms."""
    has_none = not domain.synonyms_section and is_english((), domain.language)
    return files.synonyms or (shipped("synonyms.json") if has_none else None)


def synonyms_of(catalogue: Catalogue) -> Synonyms:
    """Return the ways to say the values of a domain: those of its metadata alone if it was not loaded from files."""
    if catalogue.synonyms is None:
        files = catalogue.reload[1][0] if catalogue.reload else None
        path = synonyms_file(files, catalogue.domain) if isinstance(files, DomainFiles) else None
        catalogue.synonyms = load_synonyms(path, catalogue.domain)
    return catalogue.synonyms


def load_domain_files(
    files: DomainFiles | None = None, skips_bad: bool = False, drops_idle: bool = False
) -> LoadedDomain:
    """Load all files of a domain, by default CLEVR's. Raises BadInput with every mistake in the first that has any.

    With `skips_bad`, templates with mistakes are left out; with `drops_idle`, constraints that can never apply.
    """
    files = files or find_domain()
    catalogue, _ = load_catalogue(files)
    placed, bad = read_template_files(files.templates, catalogue, drops_idle)
    raise_bad(() if skips_bad else bad)
    if not _is_shipped(files.templates):  # the tests find no doubts in those
        warn_doubts(placed, files.templates)
    return _with_templates(files, catalogue, tuple(item.template for item in placed), tuple(bad))


def input_hashes(files: DomainFiles, domain: Domain, plugins: Declarations) -> dict[str, str]:
    """Return the content hash of each file of a domain that is there, by its role."""
    synonyms = synonyms_file(files, domain)
    templates = [file.path for file in find_template_files(files.templates)] if files.templates.exists() else []
    return {
        "metadata": content_hash([files.metadata]),
        **({"templates": content_hash(templates)} if templates else {}),
        **({"synonyms": content_hash([synonyms])} if synonyms else {}),
        **plugin_hashes(plugins),
    }


def _with_templates(
    files: DomainFiles, catalogue: Catalogue, templates: tuple[Template, ...], skipped: tuple[BadTemplates, ...]
) -> LoadedDomain:
    """Return the domain with its synonyms, which are loaded, and the hashes of its files."""
    domain = catalogue.domain
    synonyms = catalogue.synonyms = load_synonyms(synonyms_file(files, domain), domain)
    hashes = input_hashes(files, domain, catalogue.plugins)
    return LoadedDomain(domain, catalogue, templates, synonyms, hashes, files, skipped)
