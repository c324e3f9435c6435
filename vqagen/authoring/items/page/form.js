// The form of one entry: what is shown depends on its sort.

import { byId, element, later, show, spaced } from "./dom.js";
import { change, current, entries, has, isAbout, isThing, remove, rename, setForm, setTruth, setValue, truth } from "./draft.js";

const form = byId("form");
let fields = [];
let shown = "";
let select = () => {};

export function onSelect(action) {
  select = action;
}

const find = (name) => entries(current.state.document).find((entry) => entry.name === name);
const forms = (entry) => current.state.document.nouns?.[entry.name] ?? {};

// Show an entry. The form is made anew only for another entry, so that nobody loses what he types.
export function showForm(name) {
  const entry = find(name);
  const key = entry ? `${entry.sort} ${name}` : "";
  if (key !== shown) {
    for (const field of fields) field.flush?.();
    shown = key;
    fields = [];
    form.replaceChildren(...(entry ? parts(entry) : [element("p", {}, "Choose an entry, or add one.")]));
  }
  if (entry) for (const field of fields) field.refresh(find(name));
}

export function flushForm() {
  for (const field of fields) field.flush?.();
}

function parts(entry) {
  const rows = [nameField(entry)];
  if (entry.sort === "kind" || entry.sort === "noun") {
    const singular = (now) => forms(now).singular ?? spaced(now.name);
    rows.push(formField(entry, "singular", "One is called", (now) => spaced(now.name)));
    rows.push(formField(entry, "plural", "Several are called", (now) => `${singular(now)}s`));
  }
  if (entry.sort === "item") rows.push(...ownItemFields(entry));
  if (entry.sort === "adjective") rows.push(...adjectiveFields(entry));
  const more = [];
  if (isThing(entry)) more.push(wordTables(entry));
  if (entry.sort === "kind") more.push(artField(entry));
  const titles = { kind: "kind", item: "item with its own picture", adjective: `adjective, ${entry.of}`, noun: "noun" };
  return [
    element("h2", {}, spaced(entry.name), element("small", {}, titles[entry.sort])),
    element("div", { className: "fields" }, ...rows),
    ...more,
    element("p", { id: "form-messages", className: "messages", role: "alert" }),
    element("div", { className: "buttons" }, element("button", { type: "button", className: "danger", onclick: () => removeEntry(entry) }, "Remove…")),
  ];
}

function report(error) {
  const place = byId("form-messages");
  if (place) place.textContent = error ? error.messages.join("\n") : "";
}

const apply = (edit) => change(edit).then(() => report(null), report);
const applyValue = (entry, key, value) => apply((draft) => setValue(draft, entry, key, value));

function field(id, label, input, hint = "") {
  input.id = id;
  return element("div", { className: "field" }, element("label", { htmlFor: id }, label), input, element("span", { className: "hint" }, hint));
}

function nameField(entry) {
  const input = element("input", { type: "text", value: entry.name, spellcheck: false, autocomplete: "off" });
  input.addEventListener("change", async () => {
    const to = input.value.trim();
    if (!to || to === entry.name) return;
    try {
      await change((draft) => rename(draft, entry, to), true);
      select(to);
    } catch (error) {
      report(error);
    }
  });
  fields.push({ refresh: (now) => show(input, now.name) });
  return field("name", "Name", input);
}

function textField(key, label, read, write, placeholder = () => "") {
  const input = element("input", { type: "text", autocomplete: "off" });
  const send = later(() => apply((draft) => write(draft, input.value.trim())));
  input.addEventListener("input", send);
  input.addEventListener("blur", send.flush);
  fields.push({
    flush: send.flush,
    refresh: (now) => {
      show(input, read(now) ?? "");
      input.placeholder = placeholder(now);
    },
  });
  return field(key, label, input);
}

const formField = (entry, key, label, placeholder) => textField(key, label, (now) => forms(now)[key],
  (draft, said) => setForm(draft, entry.name, key, said), placeholder);

function ownItemFields(entry) {
  const options = element("datalist", { id: "pictures" }, ...current.state.pictures.map((value) => element("option", { value })));
  const picture = textField("image_path", "Picture", (now) => now.record.image_path, (draft, path) => path && setValue(draft, entry, "image_path", path));
  picture.querySelector("input").setAttribute("list", "pictures");
  picture.append(options);
  const size = element("select", {}, ...Array.from({ length: current.state.document.sizes.length }, (_, i) => element("option", { value: i + 1 }, `${i + 1}`)));
  size.addEventListener("change", () => applyValue(entry, "size", Number(size.value)));
  fields.push({ refresh: (now) => show(size, String(now.record.size ?? 1)) });
  const kind = textField("kind", "Kind", (now) => now.record.kind, (draft, name) => setValue(draft, entry, "kind", name), (now) => now.name);
  return [picture, kind, field("size", "Size", size, "among items of its kind")];
}

function adjectiveFields(entry) {
  const made = [];
  if (entry.of === current.state.color_class) {
    const paint = element("input", { type: "color" });
    const send = later(() => applyValue(entry, "paint", paint.value));
    paint.addEventListener("input", send);
    fields.push({ flush: send.flush, refresh: (now) => show(paint, (now.record.paint ?? "#000000").toLowerCase()) });
    made.push(field("paint", "Paint", paint));
  } else made.push(physicsField(entry));
  return made;
}

function physicsField(entry) {
  const physics = element("input", { type: "checkbox", id: "is_physics" });
  physics.addEventListener("change", () => applyValue(entry, "is_physics", physics.checked));
  fields.push({ refresh: (now) => { physics.checked = Boolean(now.record.is_physics); } });
  const label = element("label", { htmlFor: "is_physics", className: "check" }, physics, " It is about how a thing behaves, which no picture shows.");
  return element("div", { className: "field" }, label);
}

// Words --------------------------------------------------------------------------------------------------------------

function groups(entry) {
  const { document, color_class: colors } = current.state;
  const all = entries(document);
  const found = document.adjectives
    .filter((each) => entry.sort === "item" || each.class !== colors)
    .map((each) => [each.class, all.filter((word) => word.of === each.class).map((word) => word.name)]);
  const nouns = all.filter((each) => each.sort === "noun").map((each) => each.name);
  const kinds = Object.keys(document.kinds).filter((kind) => truth(entry, kind) !== "false");
  return [...found, ["nouns", [...kinds, ...nouns].filter((noun) => noun !== entry.name && noun !== "item")]];
}

function wordTables(entry) {
  const place = element("div", { className: "words" });
  let signature = "";
  fields.push({
    refresh: (now) => {
      const tables = groups(now);
      const next = JSON.stringify(tables);
      if (next !== signature) {
        signature = next;
        const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
        place.replaceChildren(...tables.map(([title, words]) => wordTable(now, title, words)));
        if (focused) byId(focused)?.focus();
      }
      for (const row of place.querySelectorAll("tr[data-word]")) {
        row.className = truth(now, row.dataset.word);
        row.querySelector(`input[value=${row.className}]`).checked = true;
      }
    },
  });
  return place;
}

function wordTable(entry, title, words) {
  const choose = (word, value) => apply((draft) => setTruth(draft, entry, word, value));
  const truths = ["true", "unclear", "false"];
  const rows = words.map((word) => element("tr", { "data-word": word },
    element("th", { scope: "row" }, spaced(word)),
    ...truths.map((value) => element("td", {}, element("input", {
      type: "radio", name: `word-${word}`, id: `${word}-${value}`, value, "aria-label": `${spaced(word)}: ${value}`,
      onchange: () => choose(word, value),
    })))));
  const head = element("tr", {}, element("th", { scope: "col" }, title), ...truths.map((each) => element("th", { scope: "col" }, each)));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
  if (title !== "nouns") return element("div", {}, table);
  const input = element("input", { type: "text", id: "new-noun", placeholder: "new noun", "aria-label": "New noun that is true", autocomplete: "off" });
  const add = () => {
    const word = input.value.trim().replaceAll(" ", "_");
    if (word) choose(word, "true").then(() => { input.value = ""; });
  };
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") add(); });
  return element("div", {}, table, element("div", { className: "add-word" }, input, element("button", { type: "button", onclick: add }, "Add")));
}

// Drawing ------------------------------------------------------------------------------------------------------------

function inLine(value) {
  if (Array.isArray(value)) return `[${value.map(inLine).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${inLine(each)}`).join(", ")}}`;
}

const inLines = (art) => (Array.isArray(art) ? `[\n${art.map((shape) => `  ${inLine(shape)}`).join(",\n")}\n]` : inLine(art));

function artField(entry) {
  const input = element("textarea", { spellcheck: false, rows: 10, "aria-describedby": "art-message" });
  const message = element("p", { className: "messages", id: "art-message", role: "alert" });
  const say = (text) => {
    message.textContent = text;
    input.setAttribute("aria-invalid", String(Boolean(text)));
  };
  const faults = () => current.state.findings.filter((each) => each.level === "error" && isAbout(each, entry) && each.path.includes(".art"));
  const typed = () => {
    try {
      return { value: JSON.parse(input.value), fault: "" };
    } catch (error) {
      return { fault: `Not JSON: ${error.message}` };
    }
  };
  const send = later(() => {
    const { value, fault } = typed();
    if (fault) say(fault);
    else applyValue(entry, "art", value);
  });
  input.addEventListener("input", send);
  input.addEventListener("blur", send.flush);
  let before = "";
  fields.push({
    flush: send.flush,
    refresh: (now) => {
      const text = inLines(now.record.art);
      if (document.activeElement !== input && text !== before) input.value = text;
      before = document.activeElement === input ? "" : text;
      // The reply to an earlier change must not take back that the text is not JSON.
      say(typed().fault || faults().map((each) => `${each.path.slice(`kinds.${entry.name}.`.length)}: ${each.message}`).join("\n"));
    },
  });
  const made = field("art", "Drawing", input, "shapes in a unit square, from the back to the front");
  made.append(message);
  return made;
}

// Removing -----------------------------------------------------------------------------------------------------------

function removeEntry(entry) {
  const users = entries(current.state.document).filter((each) => each.name !== entry.name && has(each, entry.name));
  const where = users.length ? `\n\nIt is also taken from: ${users.map((each) => spaced(each.name)).join(", ")}` : "";
  if (!confirm(`Remove ${spaced(entry.name)}?${where}`)) return;
  change((draft) => remove(draft, entry), true).then(() => select(""), report);
}
