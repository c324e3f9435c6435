"""`vqagen schema`: the JSON Schemas of the files that people write."""

from __future__ import annotations

import click

from vqagen.json.schema import schema_names, schema_text


@click.command("schema")
@click.argument("name", type=click.Choice(schema_names()), metavar="NAME")
def command(name: str) -> None:
    """Print the JSON Schema of a kind of file.

    NAME is metadata, templates, dialog-templates, synonyms, scenes or questions, or, for the director task, director
    (the catalogue of items) or director-templates, or human-items (a line of the items of a rater study). An editor
    completes and checks a file whose first key, `"$schema"`, names the file with its schema.

    \b
    Example:
      vqagen schema templates
    """
    click.echo(schema_text(name), nl=False)
