// What the browser keeps for this link: an answer that is not saved yet, and how far the rater has read.
// Browsers can forbid storage; the study works without it, and the server knows every saved answer.

const prefix = `vqagen${window.location.pathname}/`;

function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
}

// In this tab.
export function recall(key) {
  return attempt(() => JSON.parse(window.sessionStorage.getItem(prefix + key)));
}

export function keep(key, value) {
  attempt(() => window.sessionStorage.setItem(prefix + key, JSON.stringify(value)));
}

export function drop(key) {
  attempt(() => window.sessionStorage.removeItem(prefix + key));
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export function randomName(length) {
  const numbers = crypto.getRandomValues(new Uint32Array(length));
  return Array.from(numbers, (number) => LETTERS[number % LETTERS.length]).join("");
}

const PLATFORMS = [
  ["PROLIFIC_PID", "prolific"],
  ["participantId", "connect"],
  ["workerId", "mturk"],
  ["id", "id"],
];

// Who opened the link: by the platform's own parameter, or else a random name that this browser keeps.
export function participant() {
  const query = new URLSearchParams(window.location.search);
  for (const [parameter, platform] of PLATFORMS) {
    const id = query.get(parameter);
    if (id) return { platform, id };
  }
  const key = `${prefix}anonymous`;
  const name = attempt(() => window.localStorage.getItem(key)) || recall("anonymous") || `anon-${randomName(22)}`;
  attempt(() => window.localStorage.setItem(key, name));
  keep("anonymous", name);
  return { platform: "anonymous", id: name };
}

// A preview on Mechanical Turk: the worker has not accepted, and nothing is claimed.
export function isPreview() {
  return new URLSearchParams(window.location.search).get("assignmentId") === "ASSIGNMENT_ID_NOT_AVAILABLE";
}
