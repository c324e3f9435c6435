// The form of one entry: what is shown depends on its sort.

import { current, edit } from "./api.js";
import { byId, element, later, show, spaced } from "./dom.js";

const form = byId("form");
let fields = [];
let shown = "";
let select = () => {};

export function onSelect(action) {
  select = action;
}

const find = (name) => current.state.entries.find((entry) => entry.name === name);

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
    rows.push(textField(entry, "singular", "One is called", (now) => now.forms.singular, (now) => spaced(now.name)));
    rows.push(textField(entry, "plural", "Several are called", (now) => now.forms.plural, (now) => `${now.spoken.singular}s`));
  }
  if (entry.sort === "item") rows.push(...ownItemFields(entry));
  if (entry.sort === "adjective") rows.push(...adjectiveFields(entry));
  const more = [];
  if (entry.sort === "kind" || entry.sort === "item") more.push(wordTables(entry));
  if (entry.sort === "kind") more.push(artField(entry));
  const titles = { kind: "kind", item: "item with its own picture", adjective: `adjective, ${entry.class}`, noun: "noun" };
  return [
    element("h2", {}, spaced(entry.name), element("small", {}, titles[entry.sort])),
    element("div", { className: "fields" }, ...rows),
    ...more,
    element("p", { id: "form-messages", className: "messages", role: "alert" }),
    element("div", { className: "buttons" }, element("button", { type: "button", className: "danger", onclick: () => remove(entry.name) }, "Remove…")),
  ];
}

function report(error) {
  const place = byId("form-messages");
  if (place) place.textContent = error ? error.messages.join("\n") : "";
}

const change = (body) => edit(body).then(() => report(null), report);

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
      await edit({ action: "rename", name: entry.name, to });
      select(to);
    } catch (error) {
      report(error);
    }
  });
  fields.push({ refresh: (now) => show(input, now.name) });
  return field("name", "Name", input);
}

function textField(entry, key, label, read, placeholder = () => "") {
  const input = element("input", { type: "text", autocomplete: "off" });
  const send = later(() => change({ action: "value", name: entry.name, key, value: input.value.trim(), merge: `${entry.name} ${key}` }));
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

function ownItemFields(entry) {
  const options = element("datalist", { id: "pictures" }, ...current.state.pictures.map((value) => element("option", { value })));
  const picture = textField(entry, "image_path", "Picture", (now) => now.image_path);
  picture.querySelector("input").setAttribute("list", "pictures");
  picture.append(options);
  const size = element("select", {}, ...Array.from({ length: current.state.sizes }, (_, i) => element("option", { value: i + 1 }, `${i + 1}`)));
  size.addEventListener("change", () => change({ action: "value", name: entry.name, key: "size", value: Number(size.value) }));
  fields.push({ refresh: (now) => show(size, String(now.size ?? 1)) });
  const kind = textField(entry, "kind", "Kind", (now) => now.kind, (now) => now.name);
  return [picture, kind, field("size", "Size", size, "among items of its kind")];
}

function adjectiveFields(entry) {
  const made = [];
  if (entry.class === current.state.color_class) {
    const paint = element("input", { type: "color" });
    const send = later(() => change({ action: "value", name: entry.name, key: "paint", value: paint.value, merge: `${entry.name} paint` }));
    paint.addEventListener("input", send);
    fields.push({ flush: send.flush, refresh: (now) => show(paint, (now.paint ?? "#000000").toLowerCase()) });
    made.push(field("paint", "Paint", paint));
  } else made.push(physicsField(entry));
  return made;
}

function physicsField(entry) {
  const physics = element("input", { type: "checkbox", id: "is_physics" });
  physics.addEventListener("change", () => change({ action: "value", name: entry.name, key: "is_physics", value: physics.checked }));
  fields.push({ refresh: (now) => { physics.checked = Boolean(now.is_physics); } });
  const label = element("label", { htmlFor: "is_physics", className: "check" }, physics, " It is about how a thing behaves, which no picture shows.");
  return element("div", { className: "field" }, label);
}

// Words --------------------------------------------------------------------------------------------------------------

const truthOf = (entry, word) =>
  entry.unclear.includes(word) ? "unclear" : entry.properties.includes(word) || entry.nouns.includes(word) ? "true" : "false";

function groups(entry) {
  const { entries, classes, color_class: colors, nouns } = current.state;
  const found = classes
    .filter((name) => entry.sort === "item" || name !== colors)
    .map((name) => [name, entries.filter((each) => each.sort === "adjective" && each.class === name).map((each) => each.name)]);
  const kinds = new Set(entries.filter((each) => each.sort === "kind").map((each) => each.name));
  const listed = (noun) => truthOf(entry, noun) !== "false";
  return [...found, ["nouns", nouns.filter((noun) => noun !== entry.name && (!kinds.has(noun) || listed(noun)))]];
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
        place.replaceChildren(...tables.map(([title, words]) => wordTable(now.name, title, words)));
        if (focused) byId(focused)?.focus();
      }
      for (const row of place.querySelectorAll("tr[data-word]")) {
        const truth = truthOf(now, row.dataset.word);
        row.className = truth;
        row.querySelector(`input[value=${truth}]`).checked = true;
      }
    },
  });
  return place;
}

function wordTable(name, title, words) {
  const choose = (word, truth) => change({ action: "word", name, word, truth });
  const rows = words.map((word) => element("tr", { "data-word": word },
    element("th", { scope: "row" }, spaced(word)),
    ...["true", "unclear", "false"].map((truth) => element("td", {}, element("input", {
      type: "radio", name: `word-${word}`, id: `${word}-${truth}`, value: truth, "aria-label": `${spaced(word)}: ${truth}`,
      onchange: () => choose(word, truth),
    })))));
  const head = element("tr", {}, element("th", { scope: "col" }, title), ...["true", "unclear", "false"].map((each) => element("th", { scope: "col" }, each)));
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
  const faults = () => current.state.findings.filter((each) => each.level === "error" && each.path.startsWith(`kinds.${entry.name}.art`));
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
    else change({ action: "value", name: entry.name, key: "art", value, merge: `${entry.name} art` });
  });
  input.addEventListener("input", send);
  input.addEventListener("blur", send.flush);
  let before = "";
  fields.push({
    flush: send.flush,
    refresh: (now) => {
      const text = inLines(now.art);
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

function remove(name) {
  const users = current.state.entries.filter((entry) => entry.name !== name
    && (entry.kind === name || [entry.nouns, entry.properties, entry.unclear].some((words) => words?.includes(name))));
  const where = users.length ? `\n\nIt is also taken from: ${users.map((each) => spaced(each.name)).join(", ")}` : "";
  if (!confirm(`Remove ${spaced(name)}?${where}`)) return;
  edit({ action: "remove", name }).then(() => select(""), report);
}
