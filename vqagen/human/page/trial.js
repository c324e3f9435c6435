// One trial: an image, the texts on its left and right, and a scale. Resolves with the choice and its times.

import { button, fill, heading, make, show } from "./build.js";

// The image is decoded before it is shown, so that response times begin when the rater sees it.
async function decoded(image, words) {
  if (image === null) return null;
  for (;;) {
    const element = make("img", { class: "image", alt: words.image_alt, width: image.width, height: image.height });
    element.src = image.url;
    try {
      await element.decode();
      return element;
    } catch {
      await new Promise((resolve) => {
        show(heading(words.image_failed), button(words.retry_button, resolve));
      });
    }
  }
}

function imageWithZoom(element, words) {
  const close = make("form", { method: "dialog" }, make("button", { class: "side", dir: "auto" }, words.zoom_close));
  const large = element.cloneNode();
  large.className = "large";
  const dialog = make("dialog", { class: "zoom", "aria-label": words.image_alt }, close, large);
  const open = make("button", { type: "button", class: "enlarge", "aria-label": words.zoom_button }, element);
  open.addEventListener("click", () => dialog.showModal());
  return make("div", { class: "picture" }, open, dialog);
}

function textCard(label, text, place) {
  const name = `text-${place}`;
  return make(
    "section",
    { class: `card ${place}`, "aria-labelledby": name },
    make("h2", { id: name, dir: "auto" }, label),
    make("p", { class: "text", dir: "auto" }, text),
  );
}

function pair(texts, words) {
  if (texts.length === 1) return make("div", { class: "texts one" }, textCard(words.single_label, texts[0], "single"));
  return make(
    "div",
    { class: "texts" },
    textCard(words.left_label, texts[0], "left"),
    textCard(words.right_label, texts[1], "right"),
  );
}

function scaleOf(trial) {
  const { least, largest, left, middle, right } = trial.scale;
  const center = (least + largest) / 2;
  const meaning = { [least]: left, [center]: middle, [largest]: right };
  const values = Array.from({ length: largest - least + 1 }, (_, place) => least + place);
  const choices = values.map((value) => {
    const name = meaning[value] ? `${value}: ${meaning[value]}` : String(value);
    const radio = make("input", { type: "radio", name: "value", value, "aria-label": name });
    return make("label", { class: "choice" }, radio, make("span", { "aria-hidden": "true" }, String(value)));
  });
  const row = make("div", { class: "choices" }, ...choices);
  row.style.setProperty("--values", values.length);
  const ends = make(
    "div",
    { class: "ends", "aria-hidden": "true" },
    make("span", { dir: "auto" }, left),
    make("span", { dir: "auto" }, middle),
    make("span", { dir: "auto" }, right),
  );
  return make("fieldset", { class: "scale" }, make("legend", { dir: "auto" }, trial.prompt), row, ends);
}

// A digit chooses, wherever the focus is; Enter submits through the form itself.
function chooseByKey(event, form) {
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  const radio = form.querySelector(`input[name=value][value="${CSS.escape(event.key)}"]`);
  if (radio && !form.querySelector("button.main").disabled) {
    radio.checked = true;
    radio.focus();
    radio.dispatchEvent(new Event("change", { bubbles: true }));
    event.preventDefault();
  }
}

// Show a trial and return { value, rt_ms, shown_ms, blur } once the rater submits. The form then stays, disabled.
export async function ask(trial, words) {
  const image = await decoded(trial.image, words);
  const submit = make("button", { class: "main", dir: "auto" }, words.submit_button);
  const note = make("p", { class: "note", role: "alert", dir: "auto" });
  const form = make("form", { class: "trial", novalidate: true }, scaleOf(trial), note, submit);
  show(
    heading(trial.heading ?? fill(words.trial_heading, trial)),
    image ? imageWithZoom(image, words) : "",
    pair(trial.texts, words),
    form,
  );
  const started = performance.now();
  let chosen = null;
  let blur = 0;
  const onHidden = () => {
    if (document.hidden) blur += 1;
  };
  const onKey = (event) => chooseByKey(event, form);
  document.addEventListener("visibilitychange", onHidden);
  document.addEventListener("keydown", onKey);
  form.addEventListener("change", () => {
    chosen = performance.now();
    note.textContent = "";
  });
  return new Promise((resolve) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const radio = form.querySelector("input[name=value]:checked");
      if (submit.disabled) return;
      if (radio === null) {
        note.textContent = words.choose_first;
        form.querySelector("input[name=value]").focus();
        return;
      }
      document.removeEventListener("visibilitychange", onHidden);
      document.removeEventListener("keydown", onKey);
      submit.disabled = true;
      form.querySelectorAll("input").forEach((input) => {
        input.disabled = true;
      });
      const now = performance.now();
      resolve({
        value: Number(radio.value),
        rt_ms: Math.round((chosen ?? now) - started),
        shown_ms: Math.round(now - started),
        blur,
      });
    });
  });
}

// Load the image of the next trial while the rater looks at this one.
export function prefetch(url) {
  if (url) new Image().src = url;
}
