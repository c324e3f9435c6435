// Elements from plain values. Texts are only ever set as text, never as HTML.

// make("p", { class: "note", dir: "auto" }, "text", otherElement)
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if ((value ?? false) !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function prose(texts, kind = "prose") {
  return make("div", { class: kind }, ...texts.map((text) => make("p", { dir: "auto" }, text)));
}

export function heading(text) {
  return make("h1", { tabindex: "-1", dir: "auto" }, text);
}

export function button(text, onclick, kind = "main") {
  return make("button", { type: "button", class: kind, dir: "auto", onclick }, text);
}

// "Trial {number} of {total}" with the values.
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// What a rater wrote, without control characters and halves of characters, which the server refuses.
export function cleaned(text) {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cs}\u2028\u2029]/gu, "").trim();
}

export const main = document.getElementById("main");

// Name the screen in the page, and count it, for programs that drive a browser.
export function setScreen(name) {
  Object.assign(main.dataset, { screen: name, step: Number(main.dataset.step) + 1 });
}

// Show a screen in place of the one before, and move the focus to its heading, which screen readers then read.
export function show(screen, ...children) {
  main.replaceChildren(...children.filter((child) => child !== null));
  main.inert = false;
  setScreen(screen);
  window.scrollTo(0, 0);
  main.querySelector("h1").focus({ preventScroll: true });
}
