// Fixed parts of the page, around the screens: title, progress, banners, and the buttons at its end.

import { button } from "./build.js";

export function setWords(words) {
  Object.assign(document.documentElement, { lang: words.language, dir: words.direction });
  document.title = document.getElementById("title").textContent = words.title;
}

export function setProgress(answered, total) {
  document.getElementById("progress").textContent = total ? `${answered} / ${total}` : "";
  const track = document.getElementById("track");
  track.hidden = !total;
  track.style.setProperty("--share", total ? answered / total : 0);
}

// Show a warning, or hide it with "". The same warning again is not read aloud again.
export function setBanner(text, id = "banner") {
  const banner = document.getElementById(id);
  if (banner.textContent !== text) banner.textContent = text;
}

// Put a button at the end of the page for each [id, label, action].
export function setFooter(...actions) {
  const buttons = actions.map(([id, label, action]) => Object.assign(button(label, action, "quiet"), { id }));
  document.getElementById("footer").replaceChildren(...buttons);
}

// The second click of a double click, and Enter that is held down, press no button of the next screen.
export function ignoreRepeats() {
  const stop = (event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener("click", (event) => event.detail > 1 && event.target.closest("button, a") && stop(event), true);
  document.addEventListener("keydown", (event) => event.repeat && event.key === "Enter" && stop(event), true);
}
