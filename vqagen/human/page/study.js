// The way through a study: consent, instructions, practice, trials, debriefing. The server knows where a rater is.

import { Refused, report, send, setSession } from "./api.js";
import { ignoreRepeats, offerWithdrawal, setBanner, setProgress, setWords } from "./frame.js";
import { drop, isPreview, keep, participant, randomName, recall } from "./memory.js";
import { askConsent, introduce, showDebrief, showEnd, showPreview } from "./screens.js";
import { ask } from "./trial.js";

const MOST_STARTS = 5; // of one visit: a rater may stop in another tab, or the time may run out
// Words until the server has sent those of the study.
const UNREACHABLE = "The server does not answer. This page keeps trying.";
const FAILED = ["Something went wrong", "Please open the link again in a moment."];

const token = window.location.pathname.split("/").pop();
let words = null;
let bearer = null;
let unsaved = null;
let isWithdrawn = false;

function warnUnreachable(isWaiting) {
  const text = words ? (unsaved ? words.not_saved : words.unreachable) : UNREACHABLE;
  setBanner(isWaiting ? text : "");
}

function call(method, path, body) {
  return send(method, path, body, warnUnreachable);
}

// Trials ---------------------------------------------------------------------------------------------------------

// Send an answer until the server has it. Another answer that is stored already, as from a second tab, stays.
async function save(answer) {
  unsaved = answer;
  keep("unsaved", answer);
  try {
    await call("PUT", `responses/${answer.number}`, answer.body);
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "different") throw error;
  } finally {
    unsaved = null;
    drop("unsaved");
  }
}

async function doTrials() {
  const left = recall("unsaved");
  if (left && left.session === bearer) await save(left);
  for (;;) {
    const trial = await call("GET", "trial");
    if (isWithdrawn) return;
    setProgress(trial.answered, trial.total);
    if (trial.done) return;
    const answer = await ask("trial", trial, words);
    await save({ session: bearer, number: trial.number, body: { ...answer, idem: randomName(22) } });
  }
}

async function withdraw() {
  isWithdrawn = true;
  try {
    showEnd(words.withdrawn, words, await call("POST", "withdraw", {}));
  } catch (error) {
    isWithdrawn = false;
    await recover(error);
  }
}

// Sessions -------------------------------------------------------------------------------------------------------

function reportVisit() {
  if (navigator.webdriver) report("webdriver");
  if (performance.getEntriesByType("navigation")[0]?.type === "reload") report("reload");
}

async function take(session) {
  bearer = session.session;
  setSession(bearer);
  setProgress(session.answered, session.total);
  reportVisit();
  offerWithdrawal(words, withdraw);
  await introduce(session, words);
  await doTrials();
  if (!isWithdrawn) showDebrief(words, await call("POST", "complete", {}));
}

async function consent(session) {
  if (!(await askConsent(words))) return showEnd(words.declined, words);
  const body = { token, participant, consent_version: session.consent_version, agreed: true };
  return take({ ...session, ...(await call("POST", "consent", body)) });
}

async function begin() {
  const session = await call("POST", "session", { token, participant });
  words = session.texts;
  setWords(words);
  if (isPreview()) return showPreview(words);
  if (session.state === "new") return consent(session);
  if (session.state === "active") return take(session);
  if (session.state === "complete") return showDebrief(words, { ...session, debrief: words.debrief });
  return showEnd(words[session.state], words, session); // full, limit, withdrawn, expired
}

// Show why the server refuses. A session that ended elsewhere, or a changed consent text, starts again from the server.
async function recover(error, starts = 1) {
  if (isWithdrawn) return;
  if (!(error instanceof Refused)) throw error;
  const given = error.body.texts;
  if (given) {
    setWords(given);
    showEnd(given.gone, given);
  } else if (["not_active", "incomplete", "consent_changed"].includes(error.code) && starts < MOST_STARTS) {
    setSession(null);
    await begin().catch((again) => recover(again, starts + 1));
  } else {
    const reasons = { full: words?.full, limit: words?.limit, gone: words?.gone };
    showEnd(reasons[error.code] ?? words?.failed ?? FAILED, words ?? {});
  }
}

window.addEventListener("beforeunload", (event) => {
  if (unsaved) event.preventDefault();
});

ignoreRepeats();
begin()
  .catch(recover)
  .catch((error) => {
    showEnd(words?.failed ?? FAILED, words ?? {});
    throw error;
  });
