// Small helpers to build elements.

export const byId = (id) => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && !name.startsWith("aria")) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export const spaced = (name) => name.replaceAll("_", " ");

export const counted = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;

// Set a value unless the person is typing in it.
export function show(input, value) {
  if (document.activeElement !== input && input.value !== value) input.value = value;
}

// Call once, when nothing more came for a moment.
export function later(action, wait = 250) {
  let timer = 0;
  const called = (...values) => {
    clearTimeout(timer);
    called.pending = () => { called.pending = null; action(...values); };
    timer = setTimeout(() => called.pending?.(), wait);
  };
  called.flush = () => { clearTimeout(timer); called.pending?.(); };
  called.pending = null;
  return called;
}
