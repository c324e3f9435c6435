// Fixed parts of the page, around the screens: title, progress, banner, and the button to stop.

import { button, make } from "./build.js";

export function setWords(words) {
  document.documentElement.lang = words.language;
  document.documentElement.dir = words.direction;
  document.title = words.title;
  document.getElementById("title").textContent = words.title;
}

export function setProgress(answered, total) {
  document.getElementById("progress").textContent = total ? `${answered} / ${total}` : "";
  const track = document.getElementById("track");
  track.hidden = !total;
  track.style.setProperty("--share", total ? answered / total : 0);
}

// Show a warning, or hide it with "". The same warning again is not read aloud again.
export function setBanner(text) {
  const banner = document.getElementById("banner");
  if (banner.textContent !== text) banner.textContent = text;
}

// Put a button at the end of the page that calls `withdraw` after a question.
export function offerWithdrawal(words, withdraw) {
  const confirm = () => {
    dialog.close();
    withdraw();
  };
  const dialog = make(
    "dialog",
    { class: "question", "aria-labelledby": "withdraw-question" },
    make("p", { id: "withdraw-question", dir: "auto" }, words.withdraw_question),
    make(
      "div",
      { class: "row" },
      button(words.withdraw_cancel, () => dialog.close()),
      button(words.withdraw_confirm, confirm, "side"),
    ),
  );
  const open = button(words.withdraw_button, () => dialog.showModal(), "quiet");
  open.id = "withdraw";
  document.getElementById("footer").replaceChildren(open, dialog);
}

export function removeWithdrawal() {
  document.getElementById("footer").replaceChildren();
}

// The second click of a double click, and Enter that is held down, press no button of the next screen.
export function ignoreRepeats() {
  const stop = (event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  const onClick = (event) => {
    if (event.detail > 1 && event.target.closest("button")) stop(event);
  };
  const onKey = (event) => {
    if (event.repeat && event.key === "Enter") stop(event);
  };
  document.addEventListener("click", onClick, true);
  document.addEventListener("keydown", onKey, true);
}
