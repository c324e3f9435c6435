// The page: the list of entries, the preview, the findings, the buttons.

import { byId, counted, element, spaced } from "./dom.js";
import { change, current, entries, has, isAbout, isThing, load, onState, past, refuseTaken, reload, save, undo, words } from "./draft.js";
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

const fitting = (entry, wanted) => !wanted || [entry.name, ...words(entry)].some((word) => spaced(word).includes(wanted));

function showList(state) {
  const wanted = spaced(byId("filter").value.trim().toLowerCase());
  const list = byId("list");
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.name : "";
  const top = list.scrollTop;
  const old = new Map([...list.querySelectorAll("img")].map((image) => [image.dataset.source, image]));
  const parts = [];
  for (const [sort, title] of SORTS) {
    const found = entries(state.document).filter((entry) => entry.sort === sort && fitting(entry, wanted));
    if (found.length) parts.push(element("h2", {}, `${title} (${found.length})`), ...found.map((entry) => row(entry, state, old)));
  }
  list.replaceChildren(...(parts.length ? parts : [element("p", { className: "hint" }, "No entry has this name or word.")]));
  list.scrollTop = top;
  if (focused) [...list.querySelectorAll("button")].find((each) => each.dataset.name === focused)?.focus();
}

function row(entry, state, old) {
  const found = state.findings.filter((each) => isAbout(each, entry));
  const made = element("button", { type: "button", "data-name": entry.name, "aria-current": String(entry.name === chosen), onclick: () => choose(entry.name) });
  if (isThing(entry)) made.append(thumb(entry, state, old));
  if (entry.record.paint) {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = entry.record.paint;
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
  const { art, image_path: picture, size } = entry.record;
  const paints = entries(state.document).map((each) => each.record.paint);
  const source = JSON.stringify([entry.name, art, picture, size, paints]);
  if (old.has(source)) return old.get(source);
  const made = element("img", { alt: "", "data-source": source, src: `item/${encodeURIComponent(entry.name)}.svg?side=36&v=${state.version}` });
  made.addEventListener("error", () => { made.style.visibility = "hidden"; });
  return made;
}

byId("filter").addEventListener("input", () => showList(current.state));
// Preview and findings -----------------------------------------------------------------------------------------------

function showPreview(state) {
  const entry = entries(state.document).find((each) => each.name === chosen);
  const place = byId("preview");
  if (entry && isThing(entry)) {
    const image = place.querySelector("img") ?? element("img", { onerror: () => place.replaceChildren("It cannot be drawn; see below.") });
    image.alt = `${spaced(entry.name)} in its colors and sizes`;
    image.src = `variants/${encodeURIComponent(entry.name)}.svg?side=64&v=${state.version}`;
    place.replaceChildren(image);
  } else {
    const users = entries(state.document).filter((each) => has(each, chosen));
    const isDoubtful = (each) => each.record.unclear?.includes(chosen);
    const names = (found) => found.map((each) => spaced(each.name)).join(", ") || "nothing";
    place.replaceChildren(...(entry ? [
      element("div", {}, `True of: ${entry.record.paint ? "every kind in this color" : names(users.filter((each) => !isDoubtful(each)))}`),
      element("div", {}, `Unclear for: ${names(users.filter(isDoubtful))}`),
    ] : []));
  }
}

function showFindings(state) {
  const errors = state.findings.filter((each) => each.level === "error").length;
  byId("count").textContent = state.findings.length ? `(${counted(errors, "error")}, ${counted(state.findings.length - errors, "warning")})` : "";
  const found = state.findings.map((each) => ({ ...each, owner: entries(state.document).find((entry) => isAbout(each, entry))?.name }));
  const sorted = [...found.filter((each) => each.owner === chosen), ...found.filter((each) => each.owner !== chosen)];
  byId("findings").replaceChildren(...(sorted.length ? sorted.slice(0, 60).map(finding) : [element("li", {}, "Nothing is wrong.")]));
}

function finding({ level, owner, message }) {
  const made = element("li", {}, element("span", { className: level }, level), " ");
  if (owner && owner !== chosen) made.append(element("button", { type: "button", onclick: () => choose(owner) }, spaced(owner)), " ");
  made.append(message);
  return made;
}

// Buttons ------------------------------------------------------------------------------------------------------------

function showBanner(error, buttons = []) {
  const close = element("button", { type: "button", onclick: () => { byId("banner").hidden = true; } }, "Close");
  byId("banner").replaceChildren(error.messages.join("\n"), element("div", { className: "buttons" }, ...buttons, close));
  byId("banner").hidden = false;
}

function saveAll() {
  flushForm();
  save().then(() => { byId("banner").hidden = true; }, (error) => {
    const again = element("button", { type: "button", onclick: loadAgain }, "Load the file again");
    showBanner(error, error.status === 409 ? [again] : []);
  });
}

function loadAgain() {
  reload().then(() => showBanner({ messages: ["This is the file as it is now. Undo returns to your changes."] }), showBanner);
}

byId("save").addEventListener("click", saveAll);
byId("undo").addEventListener("click", () => {
  flushForm();
  undo().catch(showBanner);
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    saveAll();
  }
});
window.addEventListener("beforeunload", (event) => {
  flushForm();
  if (current.state?.unsaved) event.preventDefault();
});

// Adding -------------------------------------------------------------------------------------------------------------

const options = (values) => values.map((value) => element("option", { value }, spaced(value)));

byId("add").addEventListener("click", () => {
  const { document, pictures } = current.state;
  byId("new-art").replaceChildren(...options([DISK, ...entries(document).filter((each) => each.sort === "kind").map((each) => each.name)]));
  byId("new-picture").replaceChildren(...options(pictures));
  byId("new-class").replaceChildren(...options(document.adjectives.map((each) => each.class)));
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
  try {
    await change((draft) => add(draft, byId("new-sort").value, name), true);
    byId("adding").close();
    choose(name);
  } catch (error) {
    byId("adding-messages").textContent = error.messages.join("\n");
  }
});

function add(draft, sort, name) {
  refuseTaken(draft, name);
  const { kinds, adjectives } = draft;
  if (sort === "kind") {
    const from = byId("new-art").value;
    kinds[name] = { nouns: [], properties: [], art: from === DISK ? [{ ellipse: [0.5, 0.5, 0.4, 0.4] }] : kinds[from].art };
  } else if (sort === "item") (draft.items ??= {})[name] = { image_path: byId("new-picture").value };
  else {
    const group = adjectives.find((each) => each.class === byId("new-class").value);
    group.values[name] = group.class === current.state.color_class ? { paint: byId("new-paint").value } : {};
  }
}

// Everything ---------------------------------------------------------------------------------------------------------

function refresh() {
  const { state } = current;
  const all = entries(state.document);
  if (!all.some((entry) => entry.name === chosen)) chosen = all[0]?.name ?? "";
  byId("path").textContent = state.path;
  document.title = `${state.unsaved ? "• " : ""}Items`;
  byId("status").textContent = state.unsaved ? "Changes are not saved." : state.backup ? `Saved. The old file is ${state.backup}.` : "No changes yet.";
  byId("status").className = state.unsaved ? "unsaved" : "";
  byId("undo").disabled = !past.length;
  byId("save").disabled = !state.unsaved;
  showList(state);
  showForm(chosen);
  showPreview(state);
  showFindings(state);
}

onSelect(choose);
onState(refresh);
load().catch(showBanner);
