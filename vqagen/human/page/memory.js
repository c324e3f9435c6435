// What the page remembers for this link and person: the session, an answer that is not saved yet, how far the rater has read.
// Browsers can forbid storage; the study works without it, and the server knows every saved answer.

export const BROWSER = "localStorage"; // also when the tab is closed
const TAB = "sessionStorage";
const link = `vqagen${window.location.pathname}`;
const memory = new Map();
let isKept = false;

export const query = new URLSearchParams(window.location.search);

function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
}

const PLATFORMS = { PROLIFIC_PID: "prolific", participantId: "connect", workerId: "mturk", id: "id" };

// The person who opened the link: by the platform's own parameter, or a random name that this browser keeps.
function findParticipant() {
  const parameter = Object.keys(PLATFORMS).find((name) => query.get(name));
  if (parameter) return { platform: PLATFORMS[parameter], id: query.get(parameter) };
  const digits = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
  return { platform: "anonymous", id: attempt(() => window[BROWSER].getItem(`${link}/anonymous`)) || `anon-${digits.join("")}` };
}

const participant = findParticipant();

// Who asks, as the server wants to know it. The bearer proves that this browser began: a platform's id is in many hands.
export const person = () => ({ participant, prolific_token: query.get("prolific_token") ?? undefined, bearer: recall("bearer", BROWSER) ?? undefined });

// Two people may use one link in the same tab, one after the other.
const prefix = `${link}/${participant.platform}/${participant.id}/`;

// Remember in the browser, and not only in this page: from now on, since no preview is kept.
export function startKeeping() {
  isKept = true;
  if (participant.platform === "anonymous") attempt(() => window[BROWSER].setItem(`${link}/anonymous`, participant.id));
}

export function recall(key, place = TAB) {
  return memory.get(key) ?? attempt(() => JSON.parse(window[place].getItem(prefix + key)));
}

export function keep(key, value, place = TAB) {
  memory.set(key, value);
  if (isKept) attempt(() => window[place].setItem(prefix + key, JSON.stringify(value)));
}

export function drop(key) {
  memory.delete(key);
  attempt(() => window[TAB].removeItem(prefix + key));
}

// True on Mechanical Turk if the worker has not accepted the task; nothing is claimed then.
export function isUnaccepted() {
  return query.get("assignmentId") === "ASSIGNMENT_ID_NOT_AVAILABLE";
}
