// A study in one page: consent, instructions, practice, trials, debriefing. The server knows where a rater is; the page asks.

import { Refused, report, send, setSession } from "./api.js";
import { button, heading, make, paragraphs, show } from "./build.js";
import { drop, isPreview, keep, participant, randomName, recall } from "./memory.js";
import { ask, prefetch } from "./trial.js";

const token = window.location.pathname.split("/").pop();
const person = participant();
let words = {};

// Fixed parts of the page ----------------------------------------------------------------------------------------

function setBanner(text, isWarning = false) {
  const banner = document.getElementById("banner");
  banner.textContent = text;
  banner.classList.toggle("warning", isWarning);
}

function setProgress(answered, total) {
  document.getElementById("progress").textContent = total ? `${answered} / ${total}` : "";
  const track = document.getElementById("track");
  track.hidden = !total;
  document.getElementById("done").style.setProperty("--share", total ? answered / total : 0);
}

function useWords(texts) {
  words = texts;
  document.documentElement.lang = words.language;
  document.documentElement.dir = words.direction;
  document.title = words.title;
  document.getElementById("title").textContent = words.title;
}

function warnUnsaved(isWaiting) {
  setBanner(isWaiting ? words.not_saved || "" : "", isWaiting);
}

function showEnd(texts) {
  setProgress(0, 0);
  document.getElementById("footer").replaceChildren();
  const [first, ...rest] = texts && texts.length ? texts : [""];
  show(heading(first), ...paragraphs(rest));
}

// Screens --------------------------------------------------------------------------------------------------------

function askConsent() {
  return new Promise((resolve) => {
    const box = make("input", { type: "checkbox", id: "agreed" });
    const agree = make("button", { class: "main", disabled: true, dir: "auto" }, words.consent_button);
    box.addEventListener("change", () => {
      agree.disabled = !box.checked;
    });
    const form = make(
      "form",
      { class: "consent" },
      make("label", { class: "check", dir: "auto" }, box, make("span", {}, words.consent_checkbox)),
      make("div", { class: "row" }, agree, button(words.decline_button, () => resolve(false), "side")),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (box.checked && !agree.disabled) {
        agree.disabled = true;
        resolve(true);
      }
    });
    show(heading(words.consent_heading), make("div", { class: "prose" }, ...paragraphs(words.consent)), form);
  });
}

function readOn(title, texts, label) {
  return new Promise((resolve) => {
    show(heading(title), make("div", { class: "prose" }, ...paragraphs(texts)), button(label, resolve));
  });
}

function readFeedback(isRight, trial) {
  return new Promise((resolve) => {
    const feedback = isRight ? trial.feedback_right : trial.feedback_wrong;
    const note = make("p", { class: isRight ? "feedback right" : "feedback wrong", tabindex: "-1", dir: "auto" }, feedback);
    const next = button(words.next_button, resolve);
    document.querySelector("form.trial").append(note, next);
    document.querySelector("form.trial > button.main").hidden = true;
    next.focus();
    note.setAttribute("role", "alert");
  });
}

function isExpected(trial, value) {
  const center = (trial.scale.least + trial.scale.largest) / 2;
  return trial.expected === "left" ? value < center : value > center;
}

async function practise(trials) {
  for (let place = recall("practised") ?? 0; place < trials.length; place += 1) {
    const trial = { ...trials[place], heading: words.practice_heading };
    const { value } = await ask(trial, words);
    await readFeedback(isExpected(trial, value), trial);
    keep("practised", place + 1);
  }
}

async function introduce(session) {
  if (recall("ready") || session.answered > 0) return;
  await readOn(words.instructions_heading, words.instructions, words.instructions_button);
  if (session.practice.length) {
    if (recall("practised") === null) await readOn(words.practice_heading, words.practice, words.next_button);
    await practise(session.practice);
    await readOn(words.practice_heading, words.practice_done, words.next_button);
  }
  keep("ready", true);
}

// Trials ---------------------------------------------------------------------------------------------------------

// Send an answer until the server has it. Another answer that is stored already, as from a second tab, stays.
async function save({ number, body }) {
  try {
    await send("PUT", `responses/${number}`, body, warnUnsaved);
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "different") throw error;
  }
  drop("unsaved");
}

async function doTrials() {
  const unsaved = recall("unsaved");
  if (unsaved) await save(unsaved);
  for (;;) {
    const trial = await send("GET", "trial", undefined, warnUnsaved);
    setProgress(trial.answered, trial.total);
    if (trial.done) return;
    const asked = ask(trial, words);
    prefetch(trial.next_image);
    const body = { ...(await asked), idem: randomName(22) };
    keep("unsaved", { number: trial.number, body });
    await save({ number: trial.number, body });
  }
}

function offerWithdrawal() {
  const dialog = make(
    "dialog",
    { class: "question", "aria-labelledby": "withdraw-question" },
    make("p", { id: "withdraw-question", dir: "auto" }, words.withdraw_question),
    make(
      "div",
      { class: "row" },
      button(words.withdraw_cancel, () => dialog.close()),
      button(words.withdraw_confirm, withdraw, "side"),
    ),
  );
  const open = button(words.withdraw_button, () => dialog.showModal(), "quiet");
  document.getElementById("footer").replaceChildren(open, dialog);
}

async function withdraw() {
  const end = await send("POST", "withdraw", {}, warnUnsaved);
  drop("unsaved");
  showEnd(words.withdrawn);
  showCode(end.code, end.redirect);
}

function showCode(code, redirect) {
  const parts = [];
  if (code) {
    const copied = make("span", { role: "status", dir: "auto" });
    const copy = button(
      words.copy_button,
      () => navigator.clipboard.writeText(code).then(() => copied.replaceChildren(words.copied), () => {}),
      "side",
    );
    const name = make("p", { id: "code-label", dir: "auto" }, words.code_label);
    parts.push(name, make("p", { class: "code", "aria-labelledby": "code-label" }, code), make("div", { class: "row" }, copy, copied));
  }
  if (redirect) parts.push(make("a", { class: "main", href: redirect, rel: "noreferrer", dir: "auto" }, words.redirect_button));
  document.getElementById("main").append(...parts);
}

function debriefed(end) {
  setProgress(0, 0);
  document.getElementById("footer").replaceChildren();
  show(heading(words.debrief_heading), make("div", { class: "prose" }, ...paragraphs(end.debrief)));
  showCode(end.code, end.redirect);
}

// The way through the study --------------------------------------------------------------------------------------

async function take(session) {
  setSession(session.session);
  setProgress(session.answered, session.total);
  if (navigator.webdriver) report("webdriver");
  offerWithdrawal();
  await introduce(session);
  await doTrials();
  debriefed(await send("POST", "complete", {}, warnUnsaved));
}

async function consent(session) {
  if (!(await askConsent())) return showEnd(words.declined);
  const body = { token, participant: person, consent_version: session.consent_version, agreed: true };
  const claimed = await send("POST", "consent", body, warnUnsaved);
  return take({ ...session, ...claimed });
}

async function begin() {
  const session = await send("POST", "session", { token, participant: person });
  useWords(session.texts);
  if (isPreview()) return showEnd(words.preview);
  if (session.state === "new") return consent(session);
  if (session.state === "active") return take(session);
  if (session.state === "complete") return debriefed({ ...session, debrief: words.debrief });
  return showEnd(words[session.state]); // full, limit, withdrawn, expired
}

// What to say when the server refuses: the study may be full meanwhile, or the link no longer valid.
function refused(error) {
  if (error.code === "consent_changed") return window.location.reload();
  const known = { full: words.full, limit: words.limit, gone: words.gone, not_active: words.expired };
  return showEnd(known[error.code] || words.failed || [error.message]);
}

window.addEventListener("beforeunload", (event) => {
  if (recall("unsaved")) event.preventDefault();
});

begin().catch((error) => {
  if (error instanceof Refused) refused(error);
  else throw error;
});
