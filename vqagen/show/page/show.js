"use strict";

/* The page of `vqagen show`. The data are scripts, which call `show.index` and `show.part`. */
const show = (() => {
  const LISTED = 25; // entries of the list at once
  const KEPT = 12; // parts that stay in memory
  const NAMES = { family: "Family", answer: "Answer" };
  const UNITS = { questions: "steps", dialogs: "rounds", trials: "words" };
  const byId = (id) => document.getElementById(id);
  const parts = new Map(); // number -> the promise of a part, the last used one last
  const waiting = new Map(); // number -> what resolves that promise
  let all; // the index
  let found = []; // the entries that the filters leave, by their places
  let place = 0; // of the entry that is shown, in `found`
  let pinned = null; // the step that stays lit

  /** Make an element; `given` are its properties, attributes and listeners. */
  function make(tag, given = {}, ...children) {
    const svg = ["svg", "rect", "circle", "title"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(given)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== ""));
    return element;
  }

  const number = (value) => value.toLocaleString("en");
  const noun = (count) => `${number(count)} ${count === 1 ? all.kind.slice(0, -1) : all.kind}`;

  // Data ----------------------------------------------------------------------------------------------------------

  function load(part) {
    const known = parts.get(part);
    parts.delete(part);
    parts.set(part, known || new Promise((resolve, reject) => {
      waiting.set(part, resolve);
      const inside = byId(`part-${part}`); // of a page that is one file
      const from = inside ? {} : { src: `data/part-${part}.js`, onload: () => script.remove() };
      const script = make("script", from, inside ? inside.textContent : "");
      script.addEventListener("error", () => reject(new Error(`data/part-${part}.js is missing`)));
      document.head.append(script);
    }));
    if (parts.size > KEPT) parts.delete(parts.keys().next().value);
    return parts.get(part);
  }

  async function entryAt(index) {
    const part = await load(Math.floor(index / all.part));
    const entry = part.entries[index % all.part];
    return { ...entry, picture: part.pictures[entry.picture] };
  }

  // Filters -------------------------------------------------------------------------------------------------------

  function addFilters() {
    for (const [name, column] of Object.entries(all.columns)) {
      const counts = new Array(column.values.length).fill(0);
      for (const code of column.codes) counts[code] += 1;
      const order = [...counts.keys()].sort((a, b) => compare(column.values[a], column.values[b]));
      const options = order.map((code) => make("option", { value: code }, `${column.values[code]} (${number(counts[code])})`));
      const select = make("select", { id: name, onchange: filter }, make("option", { value: "" }, "all"), ...options);
      byId("filters").append(make("span", {}, make("label", { for: name }, name === "length" ? `Length in ${UNITS[all.kind]} ` : `${NAMES[name]} `), select));
    }
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
  }

  const compare = (a, b) => (typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));

  function filter() {
    const wanted = Object.entries(all.columns)
      .map(([name, column]) => [column.codes, byId(name).value])
      .filter(([, value]) => value !== "")
      .map(([codes, value]) => [codes, Number(value)]);
    const kept = found[place];
    found = [];
    for (let index = 0; index < all.count; index += 1) {
      if (wanted.every(([codes, value]) => codes[index] === value)) found.push(index);
    }
    byId("count").textContent = wanted.length ? `${noun(found.length)} of ${number(all.count)}` : noun(all.count);
    go(Math.max(found.indexOf(kept), 0));
  }

  // List ----------------------------------------------------------------------------------------------------------

  async function go(to, isFocused = false) {
    place = Math.min(Math.max(to, 0), Math.max(found.length - 1, 0));
    const first = Math.floor(place / LISTED) * LISTED;
    const shown = found.slice(first, first + LISTED);
    const asked = found[place];
    byId("earlier").disabled = first === 0;
    byId("later").disabled = first + LISTED >= found.length;
    byId("place").textContent = found.length ? `${number(first + 1)}–${number(first + shown.length)}` : "none";
    const entries = await Promise.all(shown.map(entryAt)).catch((error) => fail(error));
    if (!entries || asked !== found[place]) return; // another one was asked for meanwhile
    byId("list").replaceChildren(...entries.map((entry, at) => listed(entry, first + at)));
    byId("entry").replaceChildren(...(entries.length ? detail(entries[place - first]) : ["Nothing has all of these."]));
    pinned = null;
    const current = byId("list").querySelector("[aria-current]");
    if (current) {
      current.scrollIntoView({ block: "nearest" });
      if (isFocused) current.focus();
      history.replaceState(null, "", `#${asked}`);
    }
  }

  function fail(error) {
    byId("entry").replaceChildren(make("p", { class: "note wide" }, `${error.message}; write the page again`));
  }

  function listed(entry, at) {
    const current = at === place ? "true" : null;
    const text = entry.question || entry.instruction || entry.sentences[0].text;
    const button = make("button", { type: "button", "aria-current": current, onclick: () => go(at, true) }, text);
    if (entry.answer) button.append(make("small", {}, entry.answer));
    return make("li", {}, button);
  }

  document.addEventListener("keydown", (event) => {
    const inList = byId("list").contains(event.target);
    const step = { ArrowRight: 1, ArrowLeft: -1, ...(inList ? { ArrowDown: 1, ArrowUp: -1 } : {}) }[event.key];
    if (!step || event.target.tagName === "SELECT" || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(place + step, inList);
  });
  byId("earlier").addEventListener("click", () => go(place - LISTED));
  byId("later").addEventListener("click", () => go((Math.floor(place / LISTED) + 1) * LISTED));

  // Entry ---------------------------------------------------------------------------------------------------------

  function detail(entry) {
    const names = Object.entries(all.columns).filter(([name]) => name !== "answer");
    const facts = names.map(([name, { values, codes }]) => {
      const value = values[codes[found[place]]];
      if (name === "length") return value ? `${value} ${UNITS[all.kind]}` : "";
      return value ? `${name} ${value}` : "";
    });
    const head = [`${all.kind.slice(0, -1)} ${entry.id}`, entry.split && `split ${entry.split}`, ...facts];
    const body = entry.sentences ? dialog(entry) : entry.cells ? trial(entry) : question(entry);
    return [
      make("p", { class: "facts wide" }, head.filter(Boolean).join(" · ")),
      entry.note ? make("p", { class: "note wide" }, entry.note) : "",
      ...body,
    ];
  }

  function picture({ size, objects, file }) {
    const [width, height] = size;
    const shapes = objects.map((object, at) => shape(object, at, width, file));
    const names = objects.map((object) => object.name).join("; ");
    const drawn = make("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": file ? "true" : null, role: "img" }, ...shapes);
    if (!file) drawn.setAttribute("aria-label", `No picture; objects: ${names || "unknown"}`);
    const box = make("div", { class: file && objects.length ? "picture" : "picture bare" });
    if (file) box.append(make("img", { src: file, alt: names ? `A picture of ${names}` : "The picture" }));
    if (objects.length || !file) box.append(drawn);
    return make("figure", {}, box, make("figcaption", { id: "lit", "aria-live": "polite" }));
  }

  function shape(object, at, width, file) {
    const [x, y] = object.at || [];
    const title = make("title", {}, object.name);
    if (object.box && file) {
      const [left, top, right, bottom] = object.box;
      return make("rect", { "data-object": at, x: left, y: top, width: right - left, height: bottom - top }, title);
    }
    if (x === undefined) return "";
    const circle = make("circle", { "data-object": at, cx: x, cy: y, r: width / 24 }, title);
    if (!file) {
      circle.classList.add("dot");
      circle.style.fill = object.color || "transparent";
    }
    return circle;
  }

  /** Light objects in the picture, and name them below it. */
  function light(objects, picture) {
    for (const each of document.querySelectorAll("[data-object]")) {
      each.classList.toggle("lit", objects.includes(Number(each.dataset.object)));
    }
    byId("lit").textContent = objects.map((at) => picture.objects[at]?.name || `object ${at}`).join("; ");
  }

  /** Return listeners that light objects while an element is pointed at or has the focus. */
  function lights(objects, picture) {
    const on = () => light(objects, picture);
    const off = () => light(pinned ? pinned.objects : [], picture);
    return { onmouseover: on, onfocus: on, onmouseout: off, onblur: off };
  }

  function question(entry) {
    const letter = (at) => String.fromCharCode(65 + at);
    const options = entry.options.map((text, at) =>
      make("li", { "data-letter": letter(at), class: text === entry.answer ? "answer" : null }, text));
    const steps = entry.steps.map((step, at) => make("li", {}, stepButton(step, at, entry.picture)));
    return [
      make("p", { class: "asked wide" }, ...mentioned(entry), " ", make("span", { class: "answer" }, entry.answer ?? "")),
      picture(entry.picture),
      make("div", {},
        ...(entry.reasoning ? [make("h2", {}, "Reasoning"), make("p", {}, entry.reasoning)] : []),
        ...(options.length ? [make("h2", {}, "Options"), make("ol", { class: "options" }, ...options)] : []),
        ...(steps.length ? [make("h2", {}, "Program"), make("ol", { class: "steps" }, ...steps)] : [])),
    ];
  }

  /** Return the characters of a question, of which those that mention objects light them. */
  function mentioned(entry) {
    const text = [...entry.question]; // by code points, as spans count
    const made = [];
    let at = 0;
    for (const [start, end, objects] of entry.mentions) {
      made.push(text.slice(at, start).join(""));
      made.push(make("mark", lights(objects, entry.picture), text.slice(start, end).join("")));
      at = end;
    }
    return [...made, text.slice(at).join("")];
  }

  function stepButton(step, at, picture) {
    const objects = step.objects || [];
    const inputs = step.inputs.map((input) => `#${input}`);
    const call = `#${at} ${step.function}(${[...inputs, ...step.values].join(", ")})`;
    const result = step.objects ? `${objects.length} ${objects.length === 1 ? "object" : "objects"}` : step.value ?? "";
    const button = make("button", {
      type: "button", "aria-pressed": "false", ...lights(objects, picture),
      onclick: () => {
        const wasPinned = pinned?.button === button;
        pinned?.button.setAttribute("aria-pressed", "false");
        pinned = wasPinned ? null : { button, objects };
        button.setAttribute("aria-pressed", String(!wasPinned));
        light(objects, picture);
      },
    }, make("code", {}, call), make("output", {}, String(result)));
    return button;
  }

  function dialog(entry) {
    const rounds = entry.sentences.map((said, at) => {
      const label = at ? `Round ${at}, ${said.label}` : `Caption, ${said.label}`;
      const answer = said.answer === null ? "" : make("span", { class: "answer" }, said.answer);
      const text = make("span", {}, ...marked(said, entry));
      return make("li", { tabindex: 0, title: label, ...lights(said.objects, entry.picture) }, text, " ", answer);
    });
    return [picture(entry.picture), make("ol", { class: "rounds", "aria-label": "Dialog" }, ...rounds)];
  }

  /** Return the words of a sentence, of which those that mention something have its color and number. */
  function marked(said, entry) {
    const words = said.text.split(" ");
    const inside = [...said.mentions].sort((a, b) => a[1] - b[1] || b[2] - a[2]); // an outer one before its inner ones
    const pieces = (from, to) => {
      const made = [];
      while (inside.length && inside[0][1] < to) {
        const [entity, start, end] = inside.shift();
        made.push(`${words.slice(from, start).join(" ")} `, mark(entity, pieces(start, end), said, entry), " ");
        from = Math.max(from, end);
      }
      return [...made, words.slice(from, to).join(" ")];
    };
    return pieces(0, words.length);
  }

  function mark(entity, words, said, entry) {
    const show = (isLit) => (event) => {
      event.stopPropagation();
      mention(entity, isLit);
      light(isLit ? entry.entities[entity] || [] : said.objects, entry.picture);
    };
    const style = `--hue: ${(entity * 137) % 360}`;
    const given = { "data-entity": entity, style, onmouseover: show(true), onmouseout: show(false) };
    return make("mark", given, ...words, make("sub", {}, String(entity)));
  }

  function mention(entity, isLit) {
    for (const each of document.querySelectorAll(`[data-entity="${entity}"]`)) each.classList.toggle("lit", isLit);
  }

  function trial(entry) {
    const columns = [...Array(entry.width).keys()].map((x) => String.fromCharCode(65 + x));
    const rows = [...Array(entry.height).keys()].map((y) =>
      make("tr", {}, make("th", { scope: "row" }, String(y + 1)), ...columns.map((x, at) => cell(entry, `${x}${y + 1}`, y * entry.width + at))));
    const head = make("tr", {}, make("td"), ...columns.map((x) => make("th", { scope: "col" }, x)));
    const grid = make("table", { class: "grid", "aria-label": "The grid as the participant sees it" }, head, ...rows);
    const told = `rule ${entry.rule}${entry.frame ? `, from the view of the ${entry.frame}` : ""}`;
    return [
      make("p", { class: "asked wide" }, entry.instruction, " ", make("span", { class: "answer" }, entry.answer)),
      picture(entry.picture),
      make("div", {}, grid, make("p", { class: "facts" }, told)),
    ];
  }

  function cell(entry, label, at) {
    const isBlocked = entry.blocked.includes(label);
    const isRight = entry.answer === label;
    const isOwn = entry.participant_answers.includes(label) && !isRight;
    const notes = [isRight && "answer", isBlocked && "blocked", isOwn && "if all is seen"].filter(Boolean).join(", ");
    const name = (entry.cells[at] || "").replaceAll("_", " ");
    const classes = [isBlocked && "blocked", isRight && "right"].filter(Boolean).join(" ");
    return make("td", { class: classes || null }, name, notes ? make("small", {}, notes) : "");
  }

  return {
    index(given) {
      all = given;
      byId("title").textContent = all.title;
      document.title = `${all.title} – vqagen show`;
      addFilters();
      found = [...Array(all.count).keys()];
      place = Math.min(Number(location.hash.slice(1)) || 0, all.count - 1);
      filter();
    },
    part(at, given) {
      waiting.get(at)?.(given);
      waiting.delete(at);
    },
  };
})();
