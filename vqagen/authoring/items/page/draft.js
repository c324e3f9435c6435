// The draft: the document of the catalogue. It is changed here; vqagen checks, draws and saves it.

// The server's state: document, version, unsaved, findings, pictures, path; and the file of before, once it is saved.
export const current = { state: null };
export const past = [];
const listeners = [];
let queue = Promise.resolve();

export function onState(listener) {
  listeners.push(listener);
}

async function fetched(path, options) {
  let reply;
  try {
    reply = await fetch(path, options);
  } catch {
    throw { status: 0, messages: ["vqagen does not answer; is it still running? Your last change was not taken."] };
  }
  const content = await reply.json();
  if (!reply.ok) throw { status: reply.status, messages: content.messages };
  return content;
}

function take(news) {
  current.state = { ...current.state, ...news };
  for (const listener of listeners) listener(current.state);
}

export async function load() {
  take(await fetched("state"));
}

async function post(path, more = {}) {
  const body = JSON.stringify({ version: current.state.version, ...more });
  try {
    take({ ...more, ...await fetched(path, { method: "POST", headers: { "Content-Type": "application/json" }, body }) });
  } catch (error) {
    if (error.status === 409 && path !== "save") await load();
    throw error;
  }
}

// Do one thing after the other. The promise is rejected with {status, messages}.
function afterwards(action) {
  const done = queue.then(action);
  queue = done.catch(() => {});
  return done;
}

// Change a copy of the document, and send it. A change that is `strict` is taken back if it adds a mistake.
export const change = (edit, strict = false) => afterwards(async () => {
  const before = current.state;
  const document = structuredClone(before.document);
  edit(document);
  await post("change", { document });
  const known = new Set(before.findings.map((each) => each.message));
  const added = current.state.findings.filter((each) => each.level === "error" && !known.has(each.message));
  if (strict && added.length) {
    await post("change", { document: before.document });
    throw { status: 422, messages: added.map((each) => each.message) };
  }
  past.push(before.document);
  take({});
});

export const save = () => afterwards(() => post("save"));

export const reload = () => afterwards(async () => {
  const before = current.state.document;
  await post("reload");
  past.push(before);
  take({});
});

export const undo = () => afterwards(async () => {
  if (!past.length) return;
  await post("change", { document: past.at(-1) });
  past.pop();
  take({});
});

// Entries ------------------------------------------------------------------------------------------------------------

const LISTS = ["nouns", "properties", "unclear"];
const SECTIONS = { kind: "kinds", item: "items", noun: "nouns" };

const named = (section) => Object.entries(section ?? {}).filter(([name]) => name !== "comment");
const listed = (section, sort, of) => named(section).map(([name, record]) => ({ name, record, sort, of }));
const things = ({ kinds, items }) => [...listed(kinds, "kind"), ...listed(items, "item")];
const adjectives = (document) => document.adjectives.flatMap((each) => listed(each.values, "adjective", each.class));

// All entries: kinds, items, adjectives in their spoken order, then the nouns that are no kind.
export function entries(document) {
  const words = adjectives(document);
  const known = new Set(words.map((each) => each.name));
  const nouns = things(document).flatMap(({ record }) => [...(record.nouns ?? []), ...(record.unclear ?? [])]).filter((word) => !known.has(word));
  const others = new Set([...nouns, ...named(document.nouns).map(([name]) => name)]);
  const unnamed = [...others].filter((name) => !(name in document.kinds));
  return [...things(document), ...words, ...unnamed.map((name) => ({ name, sort: "noun", record: {} }))];
}

export const isThing = (entry) => entry.sort === "kind" || entry.sort === "item";
export const words = (entry) => LISTS.flatMap((key) => entry.record[key] ?? []);
export const has = (entry, word) => words(entry).includes(word) || entry.record.kind === word;

export function truth(entry, word) {
  if (entry.record.unclear?.includes(word)) return "unclear";
  return words(entry).includes(word) ? "true" : "false";
}

export function isAbout(finding, entry) {
  const place = entry.sort === "adjective" ? `.values.${entry.name}` : `${SECTIONS[entry.sort]}.${entry.name}`;
  const rest = finding.path.slice(finding.path.indexOf(place) + place.length);
  return finding.path.includes(place) && (rest === "" || rest[0] === "." || rest[0] === "[");
}

// Edits --------------------------------------------------------------------------------------------------------------

const section = (document, entry) => (entry.sort === "adjective"
  ? document.adjectives.find((each) => entry.name in each.values).values
  : document[SECTIONS[entry.sort]] ??= {});

export function refuseTaken(document, name) {
  const taken = entries(document).find((each) => each.name === name);
  if (taken) throw { status: 422, messages: [`${taken.sort} '${name}' exists already`] };
}

// Set or, without a value, take away a key of an entry's record.
export function setValue(document, entry, key, value) {
  const record = section(document, entry)[entry.name];
  if (value === "" || value === null) delete record[key];
  else record[key] = value;
}

// Set or, if empty, take away a spoken form of a noun.
export function setForm(document, noun, form, said) {
  const forms = { ...document.nouns?.[noun], [form]: said };
  if (!said) delete forms[form];
  document.nouns = { ...document.nouns, [noun]: forms };
  if (!Object.keys(forms).length) delete document.nouns[noun];
}

export function setTruth(document, entry, word, value) {
  const record = section(document, entry)[entry.name];
  const isAdjective = adjectives(document).some((each) => each.name === word);
  const right = { true: isAdjective ? "properties" : "nouns", unclear: "unclear", false: "" }[value];
  for (const key of LISTS) if (record[key]) record[key] = record[key].filter((each) => each !== word || key === right);
  if (right && !record[right]?.includes(word)) (record[right] ??= []).push(word);
  if (!record.unclear?.length) delete record.unclear;
  const { art } = record;
  if (art) { // the longest stays last
    delete record.art;
    record.art = art;
  }
}

export function rename(document, entry, to) {
  refuseTaken(document, to);
  const renamed = (values) => Object.fromEntries(Object.entries(values).map(([key, value]) => [key === entry.name ? to : key, value]));
  if (entry.sort === "adjective") for (const each of document.adjectives) each.values = renamed(each.values);
  else for (const key of [SECTIONS[entry.sort], "nouns"]) if (document[key]) document[key] = renamed(document[key]);
  for (const { record } of things(document)) {
    for (const key of LISTS) if (record[key]) record[key] = record[key].map((word) => (word === entry.name ? to : word));
    if (record.kind === entry.name) record.kind = to;
  }
}

// Remove an entry, also from the lists of others, and the spoken forms of nouns that nothing has then.
export function remove(document, entry) {
  const unused = () => named(document.nouns).map(([noun]) => noun).filter((noun) => !things(document).some((each) => each.name === noun || has(each, noun)));
  const before = unused();
  delete section(document, entry)[entry.name];
  delete document.nouns?.[entry.name];
  for (const { record } of things(document)) {
    for (const key of LISTS) if (record[key]) record[key] = record[key].filter((word) => word !== entry.name);
    if (record.kind === entry.name) delete record.kind;
  }
  for (const noun of unused()) if (!before.includes(noun)) delete document.nouns[noun];
}
