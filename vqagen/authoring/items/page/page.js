// The page: the list of entries, the preview, the findings, the buttons.

import { current, edit, load, onState, send } from "./api.js";
import { byId, counted, element, spaced } from "./dom.js";
import { flushForm, onSelect, showForm } from "./form.js";

const SORTS = [["kind", "Kinds"], ["item", "Own pictures"], ["adjective", "Adjectives"], ["noun", "Nouns"]];
const DISK = "a plain disk";
let chosen = "";

function choose(name) {
  flushForm();
  chosen = name;
  byId("banner").hidden = true;
  refresh();
  byId("list").querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
}

// List ---------------------------------------------------------------------------------------------------------------

const fitting = (entry, wanted) => !wanted || [entry.name, ...(entry.nouns ?? []), ...(entry.properties ?? []), ...(entry.unclear ?? [])]
  .some((word) => spaced(word).includes(wanted));

function showList(state) {
  const wanted = spaced(byId("filter").value.trim().toLowerCase());
  const list = byId("list");
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.name : "";
  const top = list.scrollTop;
  const old = new Map([...list.querySelectorAll("img")].map((image) => [image.dataset.source, image]));
  const parts = [];
  for (const [sort, title] of SORTS) {
    const entries = state.entries.filter((entry) => entry.sort === sort && fitting(entry, wanted));
    if (entries.length) parts.push(element("h2", {}, `${title} (${entries.length})`), ...entries.map((entry) => row(entry, state, old)));
  }
  list.replaceChildren(...(parts.length ? parts : [element("p", { className: "hint" }, "No entry has this name or word.")]));
  list.scrollTop = top;
  if (focused) [...list.querySelectorAll("button")].find((each) => each.dataset.name === focused)?.focus();
}

function row(entry, state, old) {
  const found = state.findings.filter((each) => each.entry === entry.name);
  const made = element("button", { type: "button", "data-name": entry.name, "aria-current": String(entry.name === chosen), onclick: () => choose(entry.name) });
  if (entry.sort === "kind" || entry.sort === "item") made.append(thumb(entry, state, old));
  if (entry.paint) {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = entry.paint;
    made.append(swatch);
  }
  made.append(spaced(entry.name));
  if (found.length) {
    const level = found.some((each) => each.level === "error") ? "error" : "warning";
    made.append(element("span", { className: `mark ${level}`, title: found.map((each) => each.message).join("\n"), "aria-label": counted(found.length, level) }, String(found.length)));
  }
  return made;
}

// A picture of an entry. It is fetched again only if what it shows has changed.
function thumb(entry, state, old) {
  const paints = state.entries.filter((each) => each.paint).map((each) => each.paint);
  const source = JSON.stringify([entry.name, entry.art, entry.image_path, entry.size, paints]);
  if (old.has(source)) return old.get(source);
  const made = element("img", { alt: "", "data-source": source, src: `item/${encodeURIComponent(entry.name)}.svg?side=36&v=${state.version}` });
  made.addEventListener("error", () => { made.style.visibility = "hidden"; });
  return made;
}

byId("filter").addEventListener("input", () => showList(current.state));
byId("list").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const buttons = [...byId("list").querySelectorAll("button")];
  buttons[buttons.indexOf(document.activeElement) + step]?.focus();
  event.preventDefault();
});

// Preview and findings -----------------------------------------------------------------------------------------------

function showPicture(place, path, alt) {
  if (place.dataset.path === path) return;
  place.dataset.path = path;
  place.classList.add("stale");
  replacePicture(place, path, alt).catch(() => { // vqagen has ended, as the next change says
    if (place.dataset.path === path) place.dataset.path = "";
  });
}

async function replacePicture(place, path, alt) {
  const reply = await fetch(path);
  const content = reply.ok ? await reply.blob() : (await reply.json()).messages.join("\n");
  if (place.dataset.path !== path) return;
  if (reply.ok) {
    const image = element("img", { alt, src: URL.createObjectURL(content) });
    image.addEventListener("load", () => URL.revokeObjectURL(image.src));
    place.replaceChildren(image);
    place.classList.remove("stale");
  } else {
    place.querySelectorAll("p").forEach((each) => each.remove());
    place.prepend(element("p", {}, content));
  }
}

function showPreview(state) {
  const entry = state.entries.find((each) => each.name === chosen);
  const place = byId("preview");
  if (entry && (entry.sort === "kind" || entry.sort === "item")) {
    const name = encodeURIComponent(entry.name);
    showPicture(place, `variants/${name}.svg?side=64&v=${state.version}`, `${spaced(entry.name)} in its colors and sizes`);
  } else {
    place.dataset.path = "";
    const users = state.entries.filter((each) => [each.nouns, each.properties].some((words) => words?.includes(chosen)));
    const doubtful = state.entries.filter((each) => each.unclear?.includes(chosen));
    const names = (entries) => entries.map((each) => spaced(each.name)).join(", ") || "nothing";
    place.replaceChildren(...(entry ? [
      element("div", {}, `True of: ${entry.paint ? "every kind in this color" : names(users)}`),
      element("div", {}, `Unclear for: ${names(doubtful)}`),
    ] : []));
  }
}

function showFindings(state) {
  const errors = state.findings.filter((each) => each.level === "error").length;
  byId("count").textContent = state.findings.length ? `(${counted(errors, "error")}, ${counted(state.findings.length - errors, "warning")})` : "";
  const own = state.findings.filter((each) => each.entry === chosen);
  const others = state.findings.filter((each) => each.entry !== chosen);
  byId("findings").replaceChildren(...(state.findings.length ? [...own, ...others].slice(0, 60).map(finding) : [element("li", {}, "Nothing is wrong.")]));
}

function finding(each) {
  const made = element("li", {}, element("span", { className: each.level }, each.level), " ");
  if (each.entry && each.entry !== chosen) made.append(element("button", { type: "button", onclick: () => choose(each.entry) }, spaced(each.entry)), " ");
  made.append(each.message);
  return made;
}

// Buttons ------------------------------------------------------------------------------------------------------------

function showBanner(error, buttons = []) {
  const close = element("button", { type: "button", onclick: () => { byId("banner").hidden = true; } }, "Close");
  byId("banner").replaceChildren(error.messages.join("\n"), element("div", { className: "buttons" }, ...buttons, close));
  byId("banner").hidden = false;
}

function save() {
  flushForm();
  send("save").then(() => { byId("banner").hidden = true; }, (error) => {
    const again = element("button", { type: "button", onclick: reload }, "Load the file again");
    showBanner(error, error.status === 409 ? [again] : []);
  });
}

function reload() {
  send("reload").then(() => showBanner({ messages: ["This is the file as it is now. Undo returns to your changes."] }), showBanner);
}

const step = (path) => () => {
  flushForm();
  send(path).catch(showBanner);
};

byId("save").addEventListener("click", save);
byId("undo").addEventListener("click", step("undo"));
byId("redo").addEventListener("click", step("redo"));
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    save();
  }
});
window.addEventListener("beforeunload", (event) => {
  flushForm();
  if (current.state?.unsaved) event.preventDefault();
});

// Adding -------------------------------------------------------------------------------------------------------------

const options = (values) => values.map((value) => element("option", { value }, spaced(value)));

byId("add").addEventListener("click", () => {
  const { entries, pictures, classes } = current.state;
  byId("new-art").replaceChildren(...options([DISK, ...entries.filter((each) => each.sort === "kind").map((each) => each.name)]));
  byId("new-picture").replaceChildren(...options(pictures));
  byId("new-class").replaceChildren(...options(classes));
  byId("new-name").value = "";
  byId("adding-messages").textContent = "";
  byId("adding").showModal();
  byId("new-name").focus();
});
byId("new-sort").addEventListener("change", () => {
  for (const part of byId("adding").querySelectorAll("[data-for]")) part.hidden = part.dataset.for !== byId("new-sort").value;
});
byId("cancel-add").addEventListener("click", () => byId("adding").close());
byId("adding").querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = byId("new-name").value.trim();
  const given = { kind: newKind, item: newItem, adjective: newAdjective }[byId("new-sort").value]();
  try {
    await edit({ action: "add", name, ...given });
    byId("adding").close();
    choose(name);
  } catch (error) {
    byId("adding-messages").textContent = error.messages.join("\n");
  }
});

const newKind = () => (byId("new-art").value === DISK ? { art: [{ ellipse: [0.5, 0.5, 0.4, 0.4] }] } : { art_of: byId("new-art").value });
const newItem = () => ({ image_path: byId("new-picture").value });
const newAdjective = () => {
  const of = byId("new-class").value;
  return { class: of, ...(of === current.state.color_class ? { paint: byId("new-paint").value } : {}) };
};

// Everything ---------------------------------------------------------------------------------------------------------

function refresh() {
  const { state } = current;
  if (!state.entries.some((entry) => entry.name === chosen)) chosen = state.entries[0]?.name ?? "";
  byId("path").textContent = state.path;
  document.title = `${state.unsaved ? "• " : ""}Items`;
  byId("status").textContent = state.unsaved ? "Changes are not saved." : state.backup ? `Saved. The old file is ${state.backup}.` : "No changes yet.";
  byId("status").className = state.unsaved ? "unsaved" : "";
  byId("undo").disabled = !state.can_undo;
  byId("redo").disabled = !state.can_redo;
  byId("save").disabled = !state.unsaved;
  showList(state);
  showForm(chosen);
  showPreview(state);
  showFindings(state);
}

onSelect(choose);
onState(refresh);
load().catch(showBanner);
