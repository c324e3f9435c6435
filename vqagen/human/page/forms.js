// What a rater answers with: a scale, options, a number, a text, or a cell of a grid. Every control is named "value".

import { cleaned, fill, make } from "./build.js";

const LONG_OPTION = 16; // characters of an option that has a row of its own
const VALUE = { name: "value", class: "field", "aria-labelledby": "prompt", "aria-describedby": "limits" };

function limits(text) {
  return make("p", { class: "limits", id: "limits", dir: "auto" }, text);
}

// A radio button, drawn by what stands beside it; `key` is the digit that chooses it.
function choice(value, key, name, ...shown) {
  const radio = make("input", { type: "radio", name: "value", value, "data-key": /^\d$/.test(key) ? key : null, "aria-label": name });
  return make("label", { class: "choice" }, radio, make("span", { "aria-hidden": "true", dir: "auto" }, ...shown));
}

function scale({ least, largest, left, middle, right }) {
  const meaning = { [least]: left, [(least + largest) / 2]: middle, [largest]: right };
  const values = Array.from({ length: largest - least + 1 }, (_, place) => least + place);
  const choices = values.map((value) => choice(value, value, meaning[value] ? `${value}: ${meaning[value]}` : value, value));
  const row = make("div", { class: "choices" }, ...choices);
  row.style.setProperty("--values", values.length);
  const ends = [left, middle, right].map((text) => make("span", { dir: "auto" }, text));
  return [row, make("div", { class: "ends", "aria-hidden": "true" }, ...ends)];
}

// Options are chosen by their place, or by what they say if some of them are digits.
function options({ options }) {
  const areDigits = options.some((text) => /^\d$/.test(text));
  const choices = options.map((text, place) => {
    const key = areDigits ? text : place < 9 ? String(place + 1) : null;
    return choice(text, key, text, key && key !== text ? make("kbd", {}, key) : "", make("span", { dir: "auto" }, text));
  });
  const isList = options.some((text) => text.length > LONG_OPTION);
  return [make("div", { class: isList ? "options list" : "options" }, ...choices)];
}

function number({ least, largest }, words) {
  const onbeforeinput = (event) => /[^\d-]/.test(event.data ?? "") && event.preventDefault();
  const range = { min: least, max: largest, inputmode: least < 0 ? null : "numeric", onbeforeinput, onwheel: () => field.blur() };
  const field = make("input", { ...VALUE, ...range, type: "number" });
  const step = (sign, label, way) => {
    const onclick = () => changed(field, field[way]());
    return make("button", { type: "button", class: "side", tabindex: "-1", "aria-label": label, onclick }, sign);
  };
  const row = [step("−", words.less_button, "stepDown"), field, step("+", words.more_button, "stepUp")];
  return [make("div", { class: "row number" }, ...row), limits(fill(words.number_hint, { least, largest }))];
}

function text({ longest }, words) {
  const note = limits(fill(words.text_hint, { count: 0, longest }));
  const oninput = () => (note.textContent = fill(words.text_hint, { count: area.value.length, longest }));
  const area = make("textarea", { ...VALUE, rows: 3, maxlength: longest, dir: "auto", oninput });
  return [area, note];
}

// Cells lie over the picture. Arrow keys move to the next cell in their direction; else, as among all radio buttons, on or back.
function cell({ rows, columns, area, cells }, words, picture) {
  const shown = cells.map((value, place) => {
    const [row, column] = [Math.floor(place / columns) + 1, (place % columns) + 1];
    return value ? choice(value, null, fill(words.cell_label, { row, column })) : make("span");
  });
  const move = (event) => {
    const step = { ArrowUp: -columns, ArrowDown: columns, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const start = shown.indexOf(event.target.parentElement);
    const isInLine = (place) => Math.abs(step) !== 1 || columns === 1 || Math.floor(place / columns) === Math.floor(start / columns);
    let place = start + step;
    while (shown[place]?.matches("span") && isInLine(place)) place += step;
    if (!shown[place]?.control || !isInLine(place)) return;
    event.preventDefault();
    choose(shown[place].control);
  };
  const grid = make("div", { class: "grid", onkeydown: move }, ...shown);
  const [left, top, width, height] = area.map((share) => `${100 * share}%`);
  Object.assign(grid.style, { left, top, width, height, gridTemplate: `repeat(${rows}, 1fr) / repeat(${columns}, 1fr)` });
  return [limits(words.cell_hint), make("div", { class: "board" }, picture, grid)];
}

const FORMS = { scale, options, number, text, cell };

// The parts of a form of { type, ... }, and which keys choose where some do. `picture` lies below a grid.
export function makeForm(asked, words, picture) {
  const parts = FORMS[asked.type](asked, words, picture);
  const radios = parts.flatMap((part) => [...part.querySelectorAll("[data-key]")]);
  const hint = fill(words.keys_hint, { first: radios[0]?.dataset.key, last: radios.at(-1)?.dataset.key });
  return radios.length ? [...parts, make("p", { class: "keys", dir: "auto" }, hint)] : parts;
}

// The answer that a form holds, or null if there is none, or one outside its limits.
export function answerOf(asked, form) {
  const given = new FormData(form).get("value") ?? "";
  if (!("least" in asked)) return (asked.type === "text" ? cleaned(given) : given) || null;
  const value = Number(given);
  return given !== "" && Number.isInteger(value) && value >= asked.least && value <= asked.largest ? value : null;
}

// What a rater is told who submits no answer.
export function missing(asked, words) {
  const texts = { scale: words.choose_first, number: fill(words.number_hint, asked) };
  return texts[asked.type] ?? words.answer_first;
}

// Tell the form that its answer was changed by the page.
function changed(control) {
  control.dispatchEvent(new Event("input", { bubbles: true }));
}

function choose(radio) {
  radio.checked = true;
  radio.focus();
  changed(radio);
}

// The digit of a key: what it types, or what stands on it where a keyboard types other digits or signs.
function digitOf(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return "";
  return /^\d$/.test(event.key) ? event.key : (/^Digit(\d)$/.exec(event.code)?.[1] ?? "");
}

// Choose by a digit, wherever the focus is. Enter then submits, because the focus is in the form.
document.addEventListener("keydown", (event) => {
  const digit = digitOf(event);
  if (!digit || event.target.matches("input[type=number], textarea") || document.querySelector("dialog[open]")) return;
  const control = document.querySelector(`form.trial :enabled:is([data-key="${digit}"], [type=number])`);
  if (control?.type === "number") control.focus();
  else if (control) {
    choose(control);
    event.preventDefault();
  }
});
