"""`vqagen director items copy`, `add`, `set`, `rename` and `remove`: commands that change a catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from vqagen.cli.options import catalogue_option, integer, path

if TYPE_CHECKING:
    from vqagen.authoring.items.changes import Traits

Command = Callable[..., Any]
Change = Callable[[Mapping[str, Any]], Mapping[str, Any]]

TRAIT_OPTIONS = (
    click.option("--is", "true", multiple=True, metavar="WORD", help="An adjective or noun that is true."),
    click.option("--unclear", multiple=True, metavar="WORD", help="One that people may not agree on."),
    click.option("--not", "false", multiple=True, metavar="WORD", help="One that is clearly false."),
    click.option("--noun", "nouns", multiple=True, metavar="WORD", help="A noun that is true, and may be new."),
    click.option("--singular", metavar="TEXT", help="The noun as it is spoken, such as 'pair of scissors'."),
    click.option("--plural", metavar="TEXT", help="The noun as it is spoken for several."),
    click.option("--art", type=path, metavar="FILE", help="A kind's drawing: a JSON file with its list of shapes."),
    click.option("--art-of", metavar="KIND", help="A kind's drawing: a copy of that of another kind."),
    click.option("--image", "image_path", type=path, metavar="FILE", help="The picture of an own item."),
    click.option("--kind", metavar="KIND", help="What an own item is; items of one kind are compared in size."),
    click.option("--size", type=integer(1), help="The size level of an own item, from 1."),
    click.option("--paint", metavar="#RRGGBB", help="The color of what is drawn in a color."),
    click.option("--physics/--no-physics", "is_physics", default=None, help="Is it about how a thing behaves?"),
)


def trait_options(command: Command) -> Command:
    """Add the options of an entry's traits; the command gets a function that makes the traits for a catalogue."""

    @wraps(command)
    def with_traits(*args: Any, **values: Any) -> Any:
        given = {option: values.pop(option) for option in _trait_names()}
        return command(*args, traits=lambda file: _traits(file, **given), **values)

    wrapped: Command = with_traits
    for option in reversed(TRAIT_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def _trait_names() -> tuple[str, ...]:
    words = ("true", "unclear", "false", "nouns", "singular", "plural", "art", "art_of")
    return (*words, "image_path", "kind", "size", "paint", "is_physics")


def _traits(file: Any, art: str | None, art_of: str | None, image_path: str | None, **given: Any) -> Traits:
    from vqagen.authoring.items.changes import Traits, copied_art, picture_path, read_art
    from vqagen.errors import UsageError

    if art and art_of:
        raise UsageError("--art and --art-of both give a drawing; choose one")
    shapes = read_art(art) if art else copied_art(file.document, art_of) if art_of else None
    return Traits(art=shapes, image_path=picture_path(file.path, image_path) if image_path else None, **given)


@click.command("copy")
@click.argument("target", type=path, metavar="FILE")
@click.option("--catalogue", type=path, metavar="FILE", help="Catalogue to copy, in place of the shipped one.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def copy(target: str, catalogue: str | None, force: bool) -> None:
    """Write a copy of a catalogue, to be changed.

    \b
    Example:
      vqagen director items copy items.json
    """
    from vqagen.authoring.items.catalogue_file import copy_catalogue

    click.echo(f"wrote {copy_catalogue(target, catalogue, force)}", err=True)


@click.command("add")
@click.argument("name")
@catalogue_option
@trait_options
@click.option("--class", "adjective_class", default="", metavar="CLASS", help="The class of a new adjective.")
def add(name: str, catalogue: str | None, traits: Any, adjective_class: str) -> None:
    """Add a kind, an own item, an adjective or a noun.

    --art or --art-of makes it a kind, --image an own item, --class an adjective, and --singular or --plural alone the
    spoken form of a noun. Comments, order and layout of the file stay; the old file is kept as FILE.bak.

    \b
    Example:
      vqagen director items copy items.json
      vqagen director items add heavy --class quality --physics --catalogue items.json
      vqagen director items add anvil --art-of hammer --noun tool --is heavy --catalogue items.json
    """
    from vqagen.authoring.items.changes import add_entry

    _save(catalogue, lambda file: add_entry(file.document, name, traits(file), adjective_class), f"added {name}")


@click.command("set")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@catalogue_option
@trait_options
def set_command(names: tuple[str, ...], catalogue: str | None, traits: Any) -> None:
    """Change what is said about entries.

    A word is true of a kind or own item (--is), unclear (--unclear), or false (--not): it is listed once at most.
    Comments, order and layout of the file stay; the old file is kept as FILE.bak.

    \b
    Example:
      vqagen director items copy items.json
      vqagen director items set lamp candle --is hot --unclear stackable --catalogue items.json
      vqagen director items set cactus --plural cactuses --catalogue items.json
    """
    from vqagen.authoring.items.changes import set_entries

    _save(catalogue, lambda file: set_entries(file.document, names, traits(file)), f"changed {', '.join(names)}")


@click.command("rename")
@click.argument("old")
@click.argument("new")
@catalogue_option
def rename(old: str, new: str, catalogue: str | None) -> None:
    """Give an entry another name, wherever the catalogue names it.

    Comments, order and layout of the file stay; the old file is kept as FILE.bak.

    \b
    Example:
      vqagen director items copy items.json
      vqagen director items rename shirt t_shirt --catalogue items.json
    """
    from vqagen.authoring.items.changes import rename_entry

    _save(catalogue, lambda file: rename_entry(file.document, old, new), f"renamed {old} to {new}")


@click.command("remove")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--everywhere", is_flag=True, help="Also take the words from the kinds and own items that list them.")
@catalogue_option
def remove(names: tuple[str, ...], everywhere: bool, catalogue: str | None) -> None:
    """Remove entries. One that other entries list is kept, unless --everywhere is given.

    Comments, order and layout of the file stay; the old file is kept as FILE.bak.

    \b
    Example:
      vqagen director items copy items.json
      vqagen director items remove campfire --catalogue items.json
      vqagen director items remove sweet --everywhere --catalogue items.json
    """
    from vqagen.authoring.items.changes import remove_entries

    done = f"removed {', '.join(names)}"
    _save(catalogue, lambda file: remove_entries(file.document, names, everywhere), done)


def _save(catalogue: str | None, change: Callable[[Any], Mapping[str, Any]], done: str) -> None:
    """Save a change of a catalogue, and say what was done."""
    from vqagen.authoring.items.catalogue_file import raise_read_only, read_catalogue, save

    if catalogue is None:
        raise_read_only()
    file = read_catalogue(catalogue)
    new = file.changed(change(file))
    if new.raw == file.raw:
        click.echo(f"{catalogue} says that already", err=True)
        return
    backup = save(new, file)
    click.echo(f"{done} in {catalogue}; the old file is {backup}", err=True)
