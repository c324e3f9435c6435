// Elements from plain values. Texts are only ever set as text, never as HTML.

// make("p", { class: "note", dir: "auto" }, "text", otherElement)
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function paragraphs(texts) {
  return (texts || []).map((text) => make("p", { dir: "auto" }, text));
}

export function prose(texts) {
  return make("div", { class: "prose" }, ...paragraphs(texts));
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

// Name the screen in the page, and count it, for programs that drive a browser.
export function setScreen(name) {
  const main = document.getElementById("main");
  main.dataset.screen = name;
  main.dataset.step = Number(main.dataset.step) + 1;
}

// Show a screen in place of the one before, and move the focus to its heading, which screen readers then read.
export function show(screen, ...children) {
  const main = document.getElementById("main");
  main.replaceChildren(...children.filter((child) => child));
  setScreen(screen);
  window.scrollTo(0, 0);
  main.querySelector("h1")?.focus({ preventScroll: true });
}
