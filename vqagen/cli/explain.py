"""`vqagen explain`: the meaning of a template, and the functions, constraints and words for authors."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vqagen.cli.options import domain_options, input_path, integer, path

if TYPE_CHECKING:
    from vqagen.cli.explain_page import Page
    from vqagen.language.domain_files import DomainFiles
    from vqagen.world.scene import Scene


@click.command("explain")
@click.argument("template", type=path, required=False)
@click.option(
    "--scenes", type=input_path, metavar="PATH", help="Scenes to try the template on. [default: 20 sampled scenes]"
)
@click.option("--scene", type=integer(0), metavar="INDEX", help="The index of one scene to try the template on.")
@click.option("--count", type=integer(0), default=5, show_default=True, help="Number of examples.")
@click.option("--seed", type=integer(), default=0, show_default=True, help="Random seed.")
@click.option(
    "--list",
    "catalogue",
    type=click.Choice(["functions", "constraints", "vocabulary"]),
    help="List what templates can use, in place of templates.",
)
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@click.option("--json", "as_json", is_flag=True, help="Print the output as JSON.")
def command(
    template: str | None,
    scenes: str | None,
    scene: int | None,
    count: int,
    seed: int,
    catalogue: str | None,
    domain: dict[str, Any],
    as_json: bool,
) -> None:
    """Show the parts of a template in words, and questions that it makes.

    TEMPLATE is an id such as one_hop.json#query_color, a name, or a file, whose templates are then listed. Without
    TEMPLATE, all templates are listed. If a template makes no question about a scene, the output shows at which step
    the search failed, and why.

    \b
    Example:
      vqagen explain one_hop.json#query_color --scenes scenes.json --count 2
    """
    from vqagen.language.domain_files import SHIPPED_DOMAINS, find_domain

    if template and catalogue:
        raise click.UsageError(f"--list {catalogue} lists all there are; leave out TEMPLATE")
    if template and not (domain["domain"] or domain["metadata"] or domain["templates"]):
        first, _, rest = template.partition("/")  # as in clevr/one_hop.json#count
        domain["domain"] = first if rest and first in SHIPPED_DOMAINS else None
    files = find_domain(**domain)
    page = _catalogue(files, catalogue) if catalogue else _templates(files, template, scenes, scene, count, seed)
    if as_json:
        click.echo(json.dumps(page.record, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(page.lines), color=False if os.environ.get("NO_COLOR") else None)


def _catalogue(files: DomainFiles, which: str) -> Page:
    from vqagen.authoring.catalogues import constraint_entries, function_entries, vocabularies
    from vqagen.cli.explain_page import entries_page, vocabulary_page
    from vqagen.language.domain_files import load_catalogue, synonyms_file
    from vqagen.language.synonyms import load_synonyms

    catalogue, _ = load_catalogue(files)
    if which == "vocabulary":
        synonyms = load_synonyms(synonyms_file(files, catalogue.domain), catalogue.domain)
        return vocabulary_page(vocabularies(catalogue, synonyms))
    return entries_page(function_entries(catalogue) if which == "functions" else constraint_entries(catalogue))


def _templates(
    files: DomainFiles, wanted: str | None, scenes: str | None, scene: int | None, count: int, seed: int
) -> Page:
    from vqagen.authoring.explanation import explain_template, find_templates
    from vqagen.authoring.scenes_at_hand import SAMPLED, sampled_scenes, scenes_of_file
    from vqagen.cli.explain_page import explanation_page, list_page, short_page
    from vqagen.language.domain_files import load_domain_files
    from vqagen.search.description import SceneTables

    materials = load_domain_files(files)
    if wanted is None:
        return list_page(materials.templates)
    found, is_file = find_templates(materials.templates, wanted, files.templates)
    at_hand: list[Scene] = []
    if count:
        domain = materials.domain
        at_hand = scenes_of_file(Path(scenes), domain, scene) if scenes else sampled_scenes(domain, seed, scene)
    tables = [SceneTables(each) for each in at_hand]  # what one template's search fills in, the next one finds
    source, examples = (scenes or SAMPLED) if count else "", 1 if is_file else count
    explained = [explain_template(materials, each, tables, source, examples, seed, in_short=is_file) for each in found]
    return short_page(explained) if is_file else explanation_page(found[0], explained[0])
