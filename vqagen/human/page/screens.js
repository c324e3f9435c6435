// Screens to read: consent, instructions, practice with feedback, and the ends. Each resolves when the rater goes on.

import { button, heading, make, paragraphs, prose, setScreen, show } from "./build.js";
import { removeWithdrawal, setProgress } from "./frame.js";
import { keep, recall } from "./memory.js";
import { ask } from "./trial.js";

// Return true for consent, false if the rater declines.
export function askConsent(words) {
  return new Promise((resolve) => {
    const box = make("input", { type: "checkbox", id: "agreed" });
    const agree = make("button", { class: "main", disabled: true, dir: "auto" }, words.consent_button);
    const decline = button(words.decline_button, () => resolve(false), "side");
    box.addEventListener("change", () => {
      agree.disabled = !box.checked;
    });
    const form = make(
      "form",
      { class: "consent" },
      make("label", { class: "check", dir: "auto" }, box, make("span", {}, words.consent_checkbox)),
      make("div", { class: "row" }, agree, decline),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!box.checked || agree.disabled) return;
      agree.disabled = decline.disabled = true;
      resolve(true);
    });
    show("consent", heading(words.consent_heading), prose(words.consent), form);
  });
}

// Show what a rater would consent to, before the task is accepted on the platform.
export function showPreview(words) {
  const note = make("div", { class: "notice", role: "note" }, ...paragraphs(words.preview));
  show("preview", heading(words.consent_heading), note, prose(words.consent));
}

function read(title, texts, label) {
  return new Promise((resolve) => {
    show("reading", heading(title), prose(texts), button(label, resolve));
  });
}

// Show instructions and practice, unless the rater has seen them in this tab or has begun.
export async function introduce(session, words) {
  if (recall("ready") || session.answered > 0) return;
  if (!recall("instructed")) await read(words.instructions_heading, words.instructions, words.instructions_button);
  keep("instructed", true);
  if (session.practice.length) {
    if (recall("practised") === null) await read(words.practice_heading, words.practice, words.next_button);
    await practise(session.practice, words);
    await read(words.practice_heading, words.practice_done, words.next_button);
  }
  keep("ready", true);
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

function isExpected(trial, value) {
  const center = (trial.scale.least + trial.scale.largest) / 2;
  return trial.expected === "left" ? value < center : value > center;
}

// Show feedback in place of the button of a practice trial, which stays visible.
function readFeedback(isRight, trial, words) {
  return new Promise((resolve) => {
    const text = isRight ? trial.feedback_right : trial.feedback_wrong;
    const note = make("p", { class: isRight ? "feedback right" : "feedback wrong", id: "feedback", dir: "auto" }, text);
    const next = button(words.next_button, resolve);
    next.setAttribute("aria-describedby", "feedback");
    document.querySelector("form.trial > .submit").replaceChildren(note, next);
    setScreen("feedback");
    next.focus();
  });
}

// Ends -----------------------------------------------------------------------------------------------------------

// Show the last screen of a rater. The first of `texts` is its heading; `code` and `redirect` may be null.
export function showEnd(texts, words, { code = null, redirect = null } = {}) {
  const [first, ...rest] = texts;
  leave("end", first, rest, words, code, redirect);
}

export function showDebrief(words, { debrief, code, redirect }) {
  leave("done", words.debrief_heading, debrief, words, code, redirect);
}

function leave(screen, title, texts, words, code, redirect) {
  setProgress(0, 0);
  removeWithdrawal();
  show(screen, heading(title), prose(texts), code ? codeBox(code, words) : null, redirect ? wayBack(redirect, words) : null);
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
  return make(
    "section",
    { class: "codes", "aria-labelledby": "code-label" },
    make("h2", { id: "code-label", dir: "auto" }, words.code_label),
    make("div", { class: "row" }, shown, button(words.copy_button, copy, "side"), copied),
  );
}

function wayBack(address, words) {
  return make("a", { class: "main", href: address, rel: "noreferrer", dir: "auto" }, words.redirect_button);
}
