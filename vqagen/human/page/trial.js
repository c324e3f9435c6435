// One trial: an image, the texts on its left and right, and a scale. Resolves with the choice and its times.

import { button, fill, heading, make, show } from "./build.js";

const LONG = 400; // characters of a text that is set smaller, below an image that stays in view
const LONGEST_TIME = 6 * 24 * 3600 * 1000; // milliseconds; the server takes no longer times

// Image ----------------------------------------------------------------------------------------------------------

// The path of an image begins at the address of the study, and the page is one folder below it.
function locate(url) {
  return `..${url}`;
}

function makeImage({ url, width, height }, words, kind) {
  return make("img", { class: kind, alt: words.image_alt, width, height, src: locate(url) });
}

// The image is decoded before it is shown, so that response times begin when the rater sees it.
async function decoded(given, words) {
  if (given === null) return null;
  for (;;) {
    const image = makeImage(given, words, "image");
    try {
      await image.decode();
      return image;
    } catch {
      await new Promise((resolve) => {
        show("image-failed", heading(words.image_failed), button(words.retry_button, resolve));
      });
    }
  }
}

// The image is a button that opens a dialog, in which it is as large as the window.
function withZoom(image, given, words) {
  const close = make("form", { method: "dialog" }, make("button", { class: "side", dir: "auto" }, words.zoom_close));
  const dialog = make("dialog", { class: "zoom", "aria-label": words.image_alt }, close, makeImage(given, words, "large"));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  const name = make("span", { class: "unseen" }, ` ${words.zoom_button}`);
  const open = make("button", { type: "button", class: "enlarge", title: words.zoom_button }, image, name);
  open.addEventListener("click", () => dialog.showModal());
  const picture = make("div", { class: "picture" }, open, dialog);
  picture.style.setProperty("--ratio", given.width / given.height);
  return picture;
}

// Texts and scale ------------------------------------------------------------------------------------------------

function card(label, text, place) {
  const name = `text-${place}`;
  return make(
    "section",
    { class: `card ${place}`, "aria-labelledby": name },
    make("h2", { id: name, dir: "auto" }, label),
    make("p", { class: "text", dir: "auto" }, text),
  );
}

function cards(texts, words) {
  if (texts.length === 1) return make("div", { class: "texts one" }, card(words.single_label, texts[0], "single"));
  const [left, right] = texts;
  return make("div", { class: "texts" }, card(words.left_label, left, "left"), card(words.right_label, right, "right"));
}

function scaleOf({ prompt, scale }) {
  const { least, largest, left, middle, right } = scale;
  const meaning = { [least]: left, [(least + largest) / 2]: middle, [largest]: right };
  const values = Array.from({ length: largest - least + 1 }, (_, place) => least + place);
  const choices = values.map((value) => {
    const name = meaning[value] ? `${value}: ${meaning[value]}` : String(value);
    const radio = make("input", { type: "radio", name: "value", value, "aria-label": name });
    return make("label", { class: "choice" }, radio, make("span", { "aria-hidden": "true" }, String(value)));
  });
  const row = make("div", { class: "choices" }, ...choices);
  row.style.setProperty("--values", values.length);
  const ends = [left, middle, right].map((text) => make("span", { dir: "auto" }, text));
  return make(
    "fieldset",
    { class: "scale" },
    make("legend", { dir: "auto" }, prompt),
    row,
    make("div", { class: "ends", "aria-hidden": "true" }, ...ends),
  );
}

// The digit of a key: what it types, or what stands on it where a keyboard types other digits or signs.
function digitOf(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return "";
  return /^[1-9]$/.test(event.key) ? event.key : (/^Digit([1-9])$/.exec(event.code)?.[1] ?? "");
}

// Choose by a digit, wherever the focus is. Enter then submits, because the focus is in the form.
function chooseByKey(event, form) {
  const digit = digitOf(event);
  const radio = digit && form.querySelector(`input[name=value][value="${digit}"]`);
  if (!radio || radio.disabled || document.querySelector("dialog[open]")) return;
  radio.checked = true;
  radio.focus();
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  event.preventDefault();
}

// Times ----------------------------------------------------------------------------------------------------------

// A watch that starts when the trial is painted. `stop` returns the times, and how often the page was out of sight.
function startWatch() {
  let started = performance.now();
  let chosen = null;
  let blur = 0;
  requestAnimationFrame((time) => {
    started = Math.max(started, time);
  });
  const onHidden = () => {
    if (document.hidden) blur += 1;
  };
  const since = (time) => Math.min(Math.max(Math.round(time - started), 0), LONGEST_TIME);
  document.addEventListener("visibilitychange", onHidden);
  return {
    choose() {
      chosen = performance.now();
    },
    stop() {
      document.removeEventListener("visibilitychange", onHidden);
      const now = performance.now();
      return { rt_ms: since(chosen ?? now), shown_ms: since(now), blur };
    },
  };
}

// Trial ----------------------------------------------------------------------------------------------------------

// Show a trial and return { value, rt_ms, shown_ms, blur } once the rater submits. The form then stays, disabled.
export async function ask(screen, trial, words) {
  const image = await decoded(trial.image, words);
  const note = make("p", { class: "note", role: "alert", dir: "auto" });
  const submit = make("button", { class: "main", dir: "auto" }, words.submit_button);
  const form = make("form", { class: "trial", novalidate: true }, scaleOf(trial), make("div", { class: "submit" }, submit, note));
  const isLong = trial.texts.some((text) => text.length > LONG);
  const picture = image && withZoom(image, trial.image, words);
  const attributes = { class: isLong ? "stage long" : "stage", "data-number": trial.number };
  const stage = make("div", attributes, picture, cards(trial.texts, words), form);
  show(screen, heading(trial.heading ?? fill(words.trial_heading, trial)), stage);
  const watch = startWatch();
  prefetch(trial.next_image);
  return answered(form, submit, note, watch, words);
}

function answered(form, submit, note, watch, words) {
  const onKey = (event) => chooseByKey(event, form);
  document.addEventListener("keydown", onKey);
  form.addEventListener("change", () => {
    watch.choose();
    note.textContent = "";
  });
  return new Promise((resolve) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (submit.disabled) return;
      const radio = form.querySelector("input[name=value]:checked");
      if (radio === null) {
        note.textContent = words.choose_first;
        form.querySelector("input[name=value]").focus();
        return;
      }
      document.removeEventListener("keydown", onKey);
      submit.disabled = true;
      form.querySelector("fieldset").disabled = true;
      resolve({ value: Number(radio.value), ...watch.stop() });
    });
  });
}

// Load the image of the next trial while the rater looks at this one.
function prefetch(url) {
  if (url) new Image().src = locate(url);
}
