"""Reasoning in words: the hops of a program as sentences that a person would say.

    There are two cubes: the red one at (212, 140) and the small blue one at (80, 200). Left of the red cube is only one
    thing: the green ball at (60, 150). It is small. So the answer is small.

The texts are the section `reasoning` of the metadata: `sentences` by function, or once for a family such as
`query_{name}`; `answer` for the last sentence; and the `phrases` that these are made of. A function has a list of
texts, or one list for each of `none`, `one` and `many` (objects, or a number) or of `yes` and `no`. Their slots:

    <D> <Ds>   what the objects are described as: "small cube", "small cubes"    <N>  how many there are, or a number
    <O>        the objects that the step gives: "the red one and the blue one"   <P>  the place of the one object
    <A> <B> <C>  what the step takes: an object, a number, a value; <As>, …      <V>  the value that the step gives
    <R>        the relation, or another value of the node                        <T> <Ts>  the name of its attribute
    <E>        "other", if the object that the step takes fits <D>, too

A text about objects has <O>, or where <D> names its one object already, <P>, and without places neither of them. One
without <D> is for a step without filters, as "Of <B>, <O> is nearest to <A>.", and the others then are not. A part in
brackets is for one of these cases: "There is one <D>[: <O>][, at <P>]." An object has one name in a reasoning: the
words by which the program finds it, or the fewest that single it out, if possible without the attribute that is asked
for. Values are said as in the question.

All draws come from a stream of the question's text and of the objects' values, and not of a seed: whatever was merged,
filtered or renamed since, the reasoning can be computed again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations
from random import Random
from typing import Any

from vqagen.bits import Objects, indexes, is_single, only
from vqagen.errors import BadInput, Problem, UsageError
from vqagen.language.catalogue import Catalogue, Function, Value
from vqagen.language.hops import Hop, filtered_by, hops_of
from vqagen.language.program import Node, Program
from vqagen.language.sentence import Marked, edits, is_english, starts_with_vowel_sound
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import PLACE, PLACES
from vqagen.rng import pick, shuffled, stream
from vqagen.world.domain import HEAD_NOUN, Domain
from vqagen.world.scene import Scene, boxes_of, pixels_of

TEXT, POINTS, BOXES = "text", "points", "boxes"
FORMS = (TEXT, POINTS, BOXES)
WRITTEN = {POINTS: ("pixel_coords", 2, "({}, {})"), BOXES: ("box", 4, "[{}, {}, {}, {}]")}
"""Form -> the key of an object's record that has its place, how many numbers are needed, and how they are written."""
MOST_WORDS = 5
"""Words of the longest name that is looked for, beside that of an object with all of its words."""
SLOTS = frozenset(("A", "As", "B", "Bs", "C", "Cs", "D", "Ds", "E", "N", "O", "P", "R", "T", "Ts", "V"))
_SLOT = re.compile(r"(?:\b([Aa])n? )?<(\w+)>")
"""A slot, and the article before it."""
_OPTIONAL = re.compile(r"\[([^][]*<(\w+)>[^][]*)\]")
Texts = Mapping[str, Sequence[str]] | Sequence[str]
"""The texts of a function, by their form where they have several."""
Words = tuple[tuple[str, str], ...]
"""What is said of objects: names of attributes, each with a value."""


def reason(program: Program, scene: Scene, question: str, answer: str, synonyms: Synonyms, form: str = TEXT) -> str:
    """Return the reasoning of a question: a sentence for each hop of its program, then its answer.

    `form` says what places objects have: `points`, `boxes`, or none (`text`). Raises BadInput if the scene lacks them,
    and UsageError if the domain has no texts.
    """
    return " ".join(_Narrator(program, scene, question, synonyms, form).sentences(answer))


def reasoning_texts(domain: Domain) -> Mapping[str, Any]:
    """Return the texts of a domain. Raises UsageError if it has none."""
    texts: Mapping[str, Any] | None = domain.record.get("reasoning")
    if texts is None:
        raise UsageError(
            f'--reasoning: no texts in {domain.source or "the metadata"}: add a section "reasoning";'
            " `vqagen init FOLDER --from clevr` writes a domain that has one"
        )
    return texts


def texts_of(function: Function, catalogue: Catalogue) -> Texts:
    """Return the texts of a function: its own, those of its proper name, or its family's; () if it has none."""
    sentences: Mapping[str, Texts] = reasoning_texts(catalogue.domain)["sentences"]
    family = function.name.removesuffix(_attribute_name(function, catalogue.domain)) + "{name}"
    proper = (name for name, other in catalogue.items() if function.name in other.aliases)
    return next((sentences[name] for name in chain((function.name, family), proper) if name in sentences), ())


@lru_cache(maxsize=10_000)
def slots_of(text: str) -> frozenset[str]:
    """Return the names of the slots of a text."""
    return frozenset(slot for _, slot in _SLOT.findall(text))


def _kept(text: str, slots: Container[str]) -> str:
    """Return a text with those of its optional parts whose slot is one of these."""
    return _OPTIONAL.sub(lambda part: part[1] if part[2] in slots else "", text)


def _attribute_name(function: Function, domain: Domain) -> str:
    """Return the attribute that a function's name ends with: "color" of query_color; "" if there is none."""
    return max(
        (each.name for each in domain.attributes if function.name.endswith(f"_{each.name}")), key=len, default=""
    )


class _Narrator:
    """Says one program."""

    def __init__(self, program: Program, scene: Scene, question: str, synonyms: Synonyms, form: str) -> None:
        self.program, self.synonyms, self.domain = program, synonyms, synonyms.domain
        self.texts = reasoning_texts(self.domain)
        self.phrases: Mapping[str, Any] = self.texts["phrases"]
        self.in_english = is_english(self.texts["answer"], self.domain.language)
        self.scene, self.form = scene, form
        self.outputs, self.hops = program.outputs(scene), hops_of(program, scene)
        self.hop_of = {step: number for number, hop in enumerate(self.hops) for step in hop.steps}
        if form != TEXT:  # BadInput for what are no places
            (pixels_of if form == POINTS else boxes_of)(scene.record)
        self.rng = stream(0, f"reasoning: {question} {scene.values}")
        self.names = _Names(scene, synonyms, question, self.rng, self._asked(), form == TEXT)
        for hop in self.hops:
            if program.nodes[hop.steps[0]].function == "scene":
                self.names.learn(self._words(hop))

    def sentences(self, answer: str) -> Iterator[str]:
        """Yield a sentence for each hop, then the answer."""
        for number, hop in enumerate(self.hops):
            yield self._sentence(number, hop)
        if self.program.answer_type in ("Object", "ObjectSet", PLACE, PLACES):
            answer = self._listed(indexes(self.hops[-1].objects or 0)) or self.phrases["none"]
        yield self._finished(pick(self.rng, self.texts["answer"]), {"X": answer})

    def _asked(self) -> set[tuple[int, str]]:
        """Return the objects of which an attribute is asked, each with the attribute."""
        outputs = [self.program.catalogue[node.function].output for node in self.program.nodes]
        asked = zip(self.program.nodes, map(self.domain.attribute_of, outputs), strict=True)
        return {(self.outputs[node.inputs[0]], each.name) for node, each in asked if each and len(node.inputs) == 1}

    def _words(self, hop: Hop) -> Words:
        """Return the words that a hop describes its objects by."""
        nodes = [self.program.nodes[step] for step in hop.steps]
        filters = [(filtered_by(node.function, self.program.catalogue), node.values) for node in nodes]
        return tuple(dict.fromkeys((attribute.name, values[0]) for attribute, values in filters if attribute))

    def _sentence(self, number: int, hop: Hop) -> str:
        head = self.program.nodes[hop.steps[0]]
        if head.function == "union" and hop.objects != self.outputs[hop.steps[0]]:
            head = self.program.nodes[hop.steps[1]]  # "Among these", after sentences about both sets
        function = self.program.catalogue[head.function]
        said, shown = self._said_of_inputs(number, function, head), frozenset[str]()
        words: Words = ()
        if hop.objects is None:
            said["O"] = said["V"] = said["N"] = self._value(hop.output)
        else:
            words = self._words(hop)
            shown = self._say_objects(indexes(hop.objects), words, said)
            is_other = (
                function.inputs[:1] == ("Object",) and self.names.fitting(words) >> self.outputs[head.inputs[0]] & 1
            )
            said["E"] = str(self.phrases.get("other", "")) if is_other else ""
        texts = texts_of(function, self.program.catalogue)
        listed = texts.get(_form_of(hop), ()) if isinstance(texts, Mapping) else texts
        telling = [text for text in listed if slots_of(text) & {"D", "Ds"}]
        listed = telling if words else [text for text in listed if text not in telling] or telling
        for kept in (shown, {"O"}):
            usable = [text for text in (_kept(text, kept) for text in listed) if slots_of(text) <= said.keys()]
            if fitting := [text for text in usable if slots_of(text) & {"O", "P"} == kept]:
                return self._finished(pick(self.rng, fitting), said)
        return self._finished(f"{function.meaning.rstrip('.')}: <O>.", said)

    def _said_of_inputs(self, number: int, function: Function, head: Node) -> dict[str, str]:
        """Return slot -> words for what a node takes, and for the attribute that it is about."""
        said: dict[str, str] = {}
        for slot, step, kind in zip("ABC", head.inputs, function.inputs, strict=False):
            said[slot] = self._reference(number, step, kind, function.inputs.count("Object") == 1)
            said[f"{slot}s"] = self.synonyms.plural(said[slot])
        if head.values:
            said["R"] = self.names.way(function.values[0], head.values[0])
        if attribute := _attribute_name(function, self.domain):
            said["T"] = attribute.replace("_", " ")
            said["Ts"] = self.synonyms.plural(said["T"])
        return said

    def _reference(self, number: int, step: int, kind: str, is_alone: bool) -> str:
        """Return the words for what an earlier step gives. `is_alone`: no other object is taken, so "it" is clear."""
        if kind == "ObjectSet":
            is_all = self.program.nodes[step].function == "scene"
            return str(self.phrases["all" if is_all and "all" in self.phrases else "these"])
        if kind != "Object":
            return self._value(self.outputs[step])
        name, it = self._listed([self.outputs[step]], are_placed=False), str(self.phrases["it"])
        if self.hop_of.get(step) != number - 1:
            return name
        ways = (name, it) if is_alone else (name,)
        return pick(self.rng, ways) if self.names.is_single(self.outputs[step]) else it

    def _value(self, output: Value) -> str:
        """Return the words for a number, a truth, or one or several values."""
        if isinstance(output, tuple | frozenset):
            return self._joined(list(map(str, output if isinstance(output, tuple) else sorted(output, key=repr))))
        numbers: Sequence[str] = self.phrases.get("numbers", ())
        if type(output) is int and output < len(numbers):
            return numbers[output]
        text = ("no", "yes")[output] if isinstance(output, bool) else str(output)
        return self.domain.answer_words.get(text, text) if isinstance(output, int) else text

    def _say_objects(self, things: Sequence[int], words: Words, said: dict[str, str]) -> frozenset[str]:
        """Add the words for the objects of a hop to `said`; return the slots by which a text says which they are."""
        said["D"], said["Ds"] = self.names.phrase(words), self.names.phrase(words, is_plural=True)
        said["N"] = self._value(len(things))
        said["O"] = self._listed(things, words) or str(self.phrases["none"])
        if any(self.names.rest(thing, words) for thing in things):
            return frozenset("O")
        if not things or self.form == TEXT:
            return frozenset()
        said["P"] = _place(self.scene, things[0], self.form)
        return frozenset("O" if things[1:] else "P")

    def _listed(self, things: Sequence[int], words: Words | None = None, are_placed: bool = True) -> str:
        """Return the names of objects, less the `words` that the sentence has just said of all of them."""
        listed, alike = list[str](), Counter[tuple[Words, str]]()
        rests = [self.names.rest(thing, words or ()) for thing in things]
        are_alike = len({*rests}) == 1 < len(things)
        for thing, rest in zip(things, rests, strict=True):
            place = _place(self.scene, thing, self.form if are_placed else TEXT)
            name, noun = self.names.of(thing), ""
            if words is not None and (rest or place):
                rest = () if place and are_alike else rest
                noun = "" if self.names.has_noun(rest) else str(self.phrases.get("one", ""))
                name = rest if noun or self.names.has_noun(rest) else name
            called = self._filled(self.phrases["named"], {"D": self.names.phrase(name, noun)})
            if place:
                listed.append(self._filled(self.phrases["placed"], {"O": called, "P": place}))
            elif self.names.is_single(thing):
                listed.append(called)
            else:
                alike[name, noun] += 1
        for (name, noun), count in alike.items():
            said = {"D": self.names.phrase(name, noun), "Ds": self.names.phrase(name, noun, is_plural=True)}
            said["N"] = self._value(count)
            listed.append(self._filled(self.phrases["several" if count > 1 else "some"], said))
        return self._joined(listed)

    def _joined(self, parts: Sequence[str]) -> str:
        *most, last = parts or ("",)
        return f"{', '.join(most)}{self.phrases['and']}{last}" if most else last

    def _filled(self, text: str, said: Mapping[str, str]) -> str:
        """Fill the slots of a text, whose articles agree with them."""

        def words(slot: re.Match[str]) -> str:
            article, filling = slot[1] or "", said[slot[2]]
            is_long = self.in_english and article and starts_with_vowel_sound(filling)
            return f"{article}{'n' * bool(is_long)}{' ' * bool(article)}{filling}"

        return _SLOT.sub(words, text)

    def _finished(self, text: str, said: Mapping[str, str]) -> str:
        changes = edits(False, False, self.domain.rewrites, False, self.in_english, self.domain.language)
        return Marked(self._filled(text, said), ()).edited(changes).text


class _Names:
    """What objects are called."""

    def __init__(
        self,
        scene: Scene,
        synonyms: Synonyms,
        question: str,
        rng: Random,
        asked: Container[tuple[int, str]],
        is_text: bool,
    ) -> None:
        """Values are said as in the `question`. `asked`: objects, each with an attribute that is asked for.

        `is_text`: names alone tell which objects are meant, so that what is asked for may have to be said.
        """
        self._scene, self._synonyms, self._rng, self._asked, self._is_text = scene, synonyms, rng, asked, is_text
        self._said = dict(synonyms.said_in(question))
        self._attributes = synonyms.domain.attributes
        self._shuffled = shuffled(rng, self._attributes)
        self._head = next((attribute for attribute in reversed(self._attributes) if attribute.null), None)
        self._names: dict[int, Words] = {}

    def way(self, kind: str, value: str | None) -> str:
        """Return how a value is said in this reasoning."""
        ways = self._synonyms.of(kind, value)
        if ways not in self._said:
            self._said[ways] = pick(self._rng, ways)
        return self._said[ways]

    def learn(self, words: Words) -> None:
        """Name the object that these words single out by them and its noun; do nothing if there is none."""
        objects = self.fitting(words)
        if words and is_single(objects):
            self._names[only(objects)] = (*words, *([] if self.has_noun(words) else self._nouns(only(objects))))

    def of(self, thing: int) -> Words:
        """Return the words that an object is called: all that are true of it if none single it out."""
        if thing not in self._names:
            self._names[thing] = self._shortest(thing)
        return self._names[thing]

    def rest(self, thing: int, words: Words) -> Words:
        """Return the words of an object's name that are not among `words`."""
        return tuple(word for word in self.of(thing) if word not in words)

    def is_single(self, thing: int) -> bool:
        """True if an object's name fits no other object."""
        return is_single(self.fitting(self.of(thing)))

    def has_noun(self, words: Words) -> bool:
        """True if the attribute whose values are nouns is among the words."""
        return self._head is not None and any(name == self._head.name for name, _ in words)

    def phrase(self, words: Words, noun: str = "", is_plural: bool = False) -> str:
        """Return words as adjectives and noun: "small red cube", or with another `noun` "small red one"."""
        said: list[str] = []
        for attribute in self._attributes:
            values = [value for name, value in words if name == attribute.name]
            leaves = [value for value in values if not any(value in attribute.lineage[each][1:] for each in values)]
            said += [self.way(attribute.type, value) for value in leaves]
        if not noun:
            noun = said.pop() if self.has_noun(words) else self.way(self._head.type, None) if self._head else HEAD_NOUN
        return " ".join([*said, self._synonyms.plural(noun) if is_plural else noun])

    def _shortest(self, thing: int) -> Words:
        nouns, names = self._nouns(thing), [attribute.name for attribute in self._shuffled]
        more = [(name, value) for name in names for value in self._values(name, thing) if (name, value) not in nouns]
        unasked = [(name, value) for name, value in more if (thing, name) not in self._asked]
        for usable in (unasked, more) if self._is_text else (unasked,):
            for size in range(MOST_WORDS):
                for chosen in combinations(usable, size):
                    if is_single(self.fitting((*nouns, *chosen))):
                        return (*nouns, *chosen)
        return (*nouns, *more) if self._is_text else (*nouns, *unasked)

    def _nouns(self, thing: int) -> Words:
        """Return the word of an object that is a noun, unless it is asked for."""
        if self._head is None or (thing, self._head.name) in self._asked:
            return ()
        return tuple((self._head.name, value) for value in self._values(self._head.name, thing))

    def _values(self, name: str, thing: int) -> tuple[str, ...]:
        value = self._scene.values[name][thing]
        return value if isinstance(value, tuple) else (value,) if value else ()

    def fitting(self, words: Words) -> Objects:
        """Return the objects of which all of these words are true."""
        objects = self._scene.everything
        for name, value in words:
            objects &= self._scene.having[name][value]
        return objects


def _form_of(hop: Hop) -> str:
    """Return the form of the texts of a hop by the number of its objects, its number or its truth."""
    number = hop.output if hop.objects is None else hop.objects.bit_count()
    if isinstance(number, bool):
        return "yes" if number else "no"
    return {0: "none", 1: "one"}.get(number, "many")


def _place(scene: Scene, thing: int, form: str) -> str:
    """Return the place of an object: "(212, 140)", "[180, 110, 244, 171]", or "" in text. Raises BadInput without."""
    if form == TEXT:
        return ""
    key, count, place = WRITTEN[form]
    given = scene.record["objects"][thing].get(key)
    numbers = [number for number in given if isinstance(number, int | float)] if isinstance(given, list | tuple) else []
    if len(numbers) < count:
        raise BadInput(
            [
                Problem(
                    f"missing, for --reasoning {form}: `vqagen scenes draw` writes it; --reasoning text needs none",
                    scene.image or "scenes",
                    f"scenes[{scene.index}].objects[{thing}].{key}",
                )
            ]
        )
    return place.format(*map(round, numbers))
