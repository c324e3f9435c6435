// The browser's memory for this link and person: an answer that is not saved yet, and how far the rater has read.
// Browsers can forbid storage; the study works without it, and the server knows every saved answer.

const link = `vqagen${window.location.pathname}`;

function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
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

// The person who opened the link: by the platform's own parameter, or a random name that this browser keeps.
function findParticipant() {
  const query = new URLSearchParams(window.location.search);
  for (const [parameter, platform] of PLATFORMS) {
    const id = query.get(parameter);
    if (id) return { platform, id };
  }
  const key = `${link}/anonymous`;
  const kept = attempt(() => window.localStorage.getItem(key)) || attempt(() => window.sessionStorage.getItem(key));
  const id = kept || `anon-${randomName(22)}`;
  attempt(() => window.sessionStorage.setItem(key, id));
  attempt(() => window.localStorage.setItem(key, id));
  return { platform: "anonymous", id };
}

export const participant = findParticipant();

// Two people may use one link in the same tab, one after the other.
const prefix = `${link}/${participant.platform}/${participant.id}/`;

export function recall(key) {
  return attempt(() => JSON.parse(window.sessionStorage.getItem(prefix + key)));
}

export function keep(key, value) {
  attempt(() => window.sessionStorage.setItem(prefix + key, JSON.stringify(value)));
}

export function drop(key) {
  attempt(() => window.sessionStorage.removeItem(prefix + key));
}

// A preview on Mechanical Turk: the worker has not accepted, and nothing is claimed.
export function isPreview() {
  return new URLSearchParams(window.location.search).get("assignmentId") === "ASSIGNMENT_ID_NOT_AVAILABLE";
}
