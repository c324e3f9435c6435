// Dialogs over a screen: the picture enlarged, the instructions again, a comment on a trial, the question before a withdrawal.

import { report } from "./api.js";
import { button, cleaned, main, make, prose } from "./build.js";

const LONGEST_COMMENT = 1000; // characters

// Open a dialog with its title. It closes with its screen.
export function openDialog(kind, title, ...children) {
  const attributes = { class: kind, "aria-labelledby": "dialog-title", onclose: () => dialog.remove() };
  const dialog = make("dialog", attributes, make("h2", { id: "dialog-title", tabindex: "-1", dir: "auto" }, title), ...children);
  main.append(dialog);
  dialog.showModal();
  dialog.querySelector("textarea, h2").focus();
  return dialog;
}

// A button that closes its dialog.
export function closeButton(label, kind = "side") {
  return make("form", { method: "dialog" }, make("button", { class: kind, dir: "auto" }, label));
}

export function showInstructions(words) {
  openDialog("question", words.instructions_heading, prose(words.instructions), closeButton(words.close_button));
}

export function askWithdrawal(words, withdraw) {
  const confirm = button(words.withdraw_confirm, withdraw, "side");
  openDialog("question", words.withdraw_question, make("div", { class: "row" }, closeButton(words.withdraw_cancel, "main"), confirm));
}

export function askComment(words, number) {
  const text = make("textarea", { class: "field", rows: 4, maxlength: LONGEST_COMMENT, "aria-labelledby": "dialog-title", dir: "auto" });
  const box = make("input", { type: "checkbox" });
  const check = make("label", { class: "check", dir: "auto" }, box, make("span", {}, words.comment_problem));
  const note = make("p", { class: "note", role: "alert", dir: "auto" });
  const send = async () => {
    const detail = cleaned(text.value);
    if (!detail && !box.checked) return text.focus();
    try {
      await report(box.checked ? "problem" : "comment", detail, number);
      [text, check, note, submit].forEach((part) => part.remove());
      title.textContent = words.comment_thanks;
      title.focus();
    } catch {
      note.textContent = words.comment_failed;
    }
  };
  const submit = button(words.comment_send, send);
  const row = make("div", { class: "row" }, submit, closeButton(words.close_button));
  const title = openDialog("question", words.comment_prompt, text, check, note, row).firstChild;
}
