// One trial: an image, texts or a question, and a form to answer with. Resolves with the answer and its times.

import { button, fill, heading, main, make, show } from "./build.js";
import { closeButton, openDialog } from "./dialogs.js";
import { answerOf, makeForm, missing } from "./forms.js";

const LONG = 400; // characters of a text that is set smaller, below an image that stays in view
const LONGEST_TIME = 6 * 24 * 3600 * 1000; // milliseconds; the server takes no longer times

// What is shown --------------------------------------------------------------------------------------------------

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
      await new Promise((resolve) => show("image-failed", heading(words.image_failed), button(words.retry_button, resolve)));
    }
  }
}

// The image is a button that opens a dialog, in which it is as large as the window.
function withZoom(image, given, words) {
  const name = make("span", { class: "unseen" }, ` ${words.zoom_button}`);
  const zoom = () => openDialog("zoom", words.image_alt, closeButton(words.close_button), makeImage(given, words, "large"));
  return make("button", { type: "button", class: "enlarge", title: words.zoom_button, onclick: zoom }, image, name);
}

function card(label, text, place) {
  const title = make("h2", { id: `text-${place}`, dir: "auto" }, label);
  return make("section", { class: `card ${place}`, "aria-labelledby": title.id }, title, make("p", { class: "text", dir: "auto" }, text));
}

function cards(texts, words) {
  if (texts.length === 0) return null;
  if (texts.length === 1) return make("div", { class: "texts one" }, card(words.single_label, texts[0], "single"));
  const [left, right] = texts;
  return make("div", { class: "texts" }, card(words.left_label, left, "left"), card(words.right_label, right, "right"));
}

// What was said before the question: a caption, and rounds of a dialog with their answers.
function historyOf(rounds, words) {
  if (rounds.length === 0) return null;
  const line = ({ text, answer }) => make("li", {}, make("p", { dir: "auto" }, text), answer ? make("p", { class: "reply", dir: "auto" }, answer) : null);
  return make("section", { class: "history", tabindex: "0", "aria-label": words.history_heading }, make("ol", {}, ...rounds.map(line)));
}

// Times ----------------------------------------------------------------------------------------------------------

// A watch that starts when the trial is painted. `stop` returns the times, and how often the page was out of sight.
function startWatch() {
  let [started, chosen, blur] = [performance.now(), null, 0];
  const onHidden = () => (blur += document.hidden);
  const since = (time) => Math.min(Math.max(Math.round(time - started), 0), LONGEST_TIME);
  const stop = () => {
    document.removeEventListener("visibilitychange", onHidden);
    const now = performance.now();
    return { rt_ms: since(chosen ?? now), shown_ms: since(now), blur };
  };
  document.addEventListener("visibilitychange", onHidden);
  requestAnimationFrame((time) => (started = Math.max(started, time)));
  return { choose: () => (chosen = performance.now()), stop };
}

// Trial ----------------------------------------------------------------------------------------------------------

// Show a trial and return { value, rt_ms, shown_ms, blur } once the rater submits. The form then stays, disabled.
export async function ask(screen, trial, words) {
  const image = await decoded(trial.image, words);
  const asked = trial.form ?? { type: "scale", ...trial.scale };
  const prompt = make("legend", { id: "prompt", dir: "auto" }, trial.prompt);
  const answer = make("fieldset", { class: "answer" }, prompt, ...makeForm(asked, words, image));
  const submit = make("button", { class: "main", dir: "auto" }, words.submit_button);
  const note = make("p", { class: "note", role: "alert", dir: "auto" });
  const form = make("form", { class: "trial", novalidate: true }, answer, make("div", { class: "submit" }, submit, note));
  const picture = image && asked.type !== "cell" ? make("div", { class: "picture" }, withZoom(image, trial.image, words)) : null;
  const history = historyOf(trial.history, words);
  const isLong = trial.texts.some((text) => text.length > LONG);
  const attributes = { class: isLong ? "stage long" : "stage", "data-number": trial.number, "data-form": asked.type };
  const stage = make("div", attributes, picture, cards(trial.texts, words), history, form);
  if (image) main.style.setProperty("--ratio", trial.image.width / trial.image.height);
  show(screen, heading(trial.heading ?? fill(words[`${trial.use}_heading`], trial)), stage);
  history?.scrollTo(0, history.scrollHeight);
  const watch = startWatch();
  if (trial.next_image) new Image().src = locate(trial.next_image);
  return new Promise((resolve) => {
    form.addEventListener("input", () => {
      watch.choose();
      note.textContent = "";
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (submit.disabled) return;
      const value = answerOf(asked, form);
      if (value === null) {
        note.textContent = missing(asked, words);
        return form.querySelector("[name=value]").focus();
      }
      submit.disabled = answer.disabled = true;
      resolve({ value, ...watch.stop() });
    });
  });
}
