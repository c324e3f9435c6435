// Screens to read: consent, instructions, practice with feedback, breaks, and the ends. Each resolves when the rater goes on.

import { button, fill, heading, make, prose, setScreen, show } from "./build.js";
import { setFooter, setProgress } from "./frame.js";
import { keep, query, recall } from "./memory.js";
import { ask } from "./trial.js";

// Return true for consent, false if the rater declines.
export function askConsent(words) {
  return new Promise((resolve) => {
    const agree = make("button", { class: "main", disabled: true, dir: "auto" }, words.consent_button);
    const decline = button(words.decline_button, () => resolve(false), "side");
    const box = make("input", { type: "checkbox", id: "agreed", onchange: () => Object.assign(agree, { disabled: !box.checked }) });
    const submit = (event) => {
      event.preventDefault();
      if (!box.checked || agree.disabled) return;
      agree.disabled = decline.disabled = true;
      resolve(true);
    };
    const check = make("label", { class: "check", dir: "auto" }, box, make("span", {}, words.consent_checkbox));
    const form = make("form", { onsubmit: submit }, check, make("div", { class: "row" }, agree, decline));
    show("consent", heading(words.consent_heading), prose(words.consent), form);
  });
}

// Show what a rater would consent to, before the task is accepted on the platform.
export function showUnaccepted(words) {
  show("preview", heading(words.consent_heading), prose(words.preview, "notice"), prose(words.consent));
}

export function read(screen, title, texts, label) {
  return new Promise((resolve) => show(screen, heading(title), prose(texts), button(label, resolve)));
}

// Show instructions and practice, unless the rater has seen them in this tab or has begun. Return true if any was shown.
export async function introduce(session, words) {
  if (recall("ready") || session.answered > 0) return false;
  if (!recall("instructed")) await read("reading", words.instructions_heading, words.instructions, words.instructions_button);
  keep("instructed", true);
  if (session.practice.length) {
    if (recall("practised") === null) await read("reading", words.practice_heading, words.practice, words.next_button);
    await practise(session.practice, words);
    await read("reading", words.practice_heading, words.practice_done, words.next_button);
  }
  keep("ready", true);
  return true;
}

async function practise(trials, words) {
  for (let place = recall("practised") ?? 0; place < trials.length; place += 1) {
    keep("practised", place);
    const number = trials.length > 1 ? ` ${place + 1} / ${trials.length}` : "";
    const trial = { ...trials[place], heading: words.practice_heading + number };
    const { value } = await ask("practice", trial, words);
    await readFeedback(isExpected(trial, value), trial, words);
    keep("practised", place + 1);
  }
}

// `expected` is the side of the better text, or the right answer to a question.
function isExpected({ expected, scale }, value) {
  if (!scale) return String(value).toLowerCase() === expected.toLowerCase();
  const center = (scale.least + scale.largest) / 2;
  return expected === "left" ? value < center : value > center;
}

// Show feedback in place of the button of a practice trial, which stays visible.
function readFeedback(isRight, { scale, expected }, words) {
  return new Promise((resolve) => {
    const kind = isRight ? "right" : "wrong";
    const text = fill(words[`${scale ? "practice" : "answer"}_${kind}`], { expected });
    const note = make("p", { class: `feedback ${kind}`, id: "feedback", dir: "auto" }, text);
    const next = button(words.next_button, resolve);
    next.setAttribute("aria-describedby", "feedback");
    document.querySelector("form.trial > .submit").replaceChildren(note, next);
    setScreen("feedback");
    next.focus();
  });
}

// A screen after which nothing comes by itself. The first of `texts` is its heading; `next` is a button to go on.
export function leave(screen, [title, ...texts], words, { code = null, redirect = null, next = null }) {
  setProgress(0, 0);
  setFooter();
  show(screen, heading(title), prose(texts), code && codeBox(code, words), redirect && wayBack(redirect, words), next);
}

function codeBox(code, words) {
  const shown = make("p", { class: "code", id: "code" }, code);
  const copied = make("span", { role: "status", dir: "auto" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(code);
      copied.textContent = words.copied;
    } catch {
      window.getSelection().selectAllChildren(shown);
    }
  };
  const label = make("h2", { id: "code-label", dir: "auto" }, words.code_label);
  const row = make("div", { class: "row" }, shown, button(words.copy_button, copy, "side"), copied);
  return make("section", { class: "codes", "aria-labelledby": "code-label" }, label, row);
}

// The way back to a platform, whose address may name parameters of the page's own address, such as {SESSION_ID}.
function wayBack(address, words) {
  const href = address.replace(/\{([^{}]+)\}/g, (_, name) => encodeURIComponent(query.get(name) ?? ""));
  return make("a", { class: "main", href, rel: "noreferrer", dir: "auto" }, words.redirect_button);
}
