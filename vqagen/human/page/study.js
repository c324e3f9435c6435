// The way through a study: consent, instructions, practice, trials, debriefing. The server knows where a rater is.

import { Refused, report, send, setSession } from "./api.js";
import { button, fill, main } from "./build.js";
import { askComment, askWithdrawal, showInstructions } from "./dialogs.js";
import { ignoreRepeats, setBanner, setFooter, setProgress, setWords } from "./frame.js";
import { BROWSER, drop, isUnaccepted, keep, person, recall, startKeeping } from "./memory.js";
import { askConsent, introduce, leave, read, showUnaccepted } from "./screens.js";
import { ask } from "./trial.js";

const MOST_STARTS = 5; // of one visit: a rater may stop in another tab, or the time may run out
const LONGEST_TIMER = 2 ** 31 - 1; // milliseconds; browsers ring at once for more
// Words until the server has sent those of the study.
const FIRST_WORDS = {
  unreachable: "The server does not answer. This page keeps trying.",
  busy: "Many people begin at this moment. This page keeps trying.",
  failed: ["Something went wrong", "Please open the link again in a moment."],
};

const token = window.location.pathname.split("/").pop();
let words = FIRST_WORDS;
let session = null; // what the server said about this rater
let visit = 0; // counts starts and withdrawals
let timer = 0;

// Return the server's answer. What a rater has left meanwhile, by a withdrawal or a new start, never goes on.
async function call(method, path, body) {
  const asked = visit;
  const warn = (error) => {
    const text = recall("unsaved") ? words.not_saved : error?.status === 429 ? words.busy : words.unreachable;
    if (asked === visit) setBanner(error ? text : "");
  };
  try {
    return await send(method, path, body, warn);
  } finally {
    if (asked !== visit) await new Promise(() => {});
  }
}

function end(screen, texts, facts = {}) {
  clearTimeout(timer);
  drop("unsaved");
  leave(screen, texts, words, facts);
}

// Say that the time has run out as soon as it has. An answer that is on its way may still be in time.
function countDown(milliseconds) {
  clearTimeout(timer);
  const ring = () => recall("unsaved") || end("paused", words.paused, { next: button(words.next_button, start) });
  timer = setTimeout(ring, Math.min(milliseconds, LONGEST_TIMER));
}

// Trials ---------------------------------------------------------------------------------------------------------

// Send an answer until the server has it, and return what comes next. Another answer that is stored already, as from a second
// tab, stays, and one to a trial of another session is void: then null is returned.
async function save(answer) {
  keep("unsaved", answer);
  try {
    return (await call("PUT", `responses/${answer.number}`, answer.body)).next;
  } catch (error) {
    if (!["different", "not_shown"].includes(error.code)) throw error;
    return null;
  } finally {
    drop("unsaved");
  }
}

// Ask all trials from `trial`. One that was sent before something else was shown is fetched again: the server measures too.
async function doTrials(trial) {
  const left = recall("unsaved");
  if (left) trial = await save(left);
  for (;;) {
    trial ??= await call("GET", "trial");
    if (trial.done) return finish(trial);
    countDown(trial.lease_ms);
    setProgress(trial.answered, trial.total);
    const isScored = trial.use === "trial";
    const done = recall("unrested") ?? 0; // scored trials since the last break
    if (isScored && session.break_every && done >= session.break_every) {
      await rest(trial);
      if (!session.is_preview) trial = null; // of previews, the server does not know what was answered
      continue;
    }
    setFooter(...actions(trial.number));
    const answer = await ask("trial", trial, words);
    if (isScored) keep("unrested", done + 1);
    trial = await save({ number: trial.number, body: { ...answer, ticket: trial.ticket } });
  }
}

async function rest({ answered, total, lease_ms }) {
  const facts = { answered, total, minutes: Math.round(lease_ms / 60000) };
  const texts = words.break.map((text) => fill(text, facts));
  await read("break", words.break_heading, texts, words.break_button);
  keep("unrested", 0);
}

function finish({ debrief, code, redirect }) {
  const texts = debrief ?? words.debrief;
  if (session.is_preview) return end("done", [...words.preview_done, ...texts]);
  end("done", [words.debrief_heading, ...texts, ...(code ? [] : [words.code_elsewhere])], { code, redirect });
}

async function withdraw() {
  visit += 1;
  main.inert = true;
  ["unsaved", "agreed"].forEach(drop);
  await call("POST", "withdraw", {}).then((facts) => end("end", words.withdrawn, facts), recover);
}

// Sessions -------------------------------------------------------------------------------------------------------

function actions(number = null) {
  return [
    ["instructions", words.instructions_reopen, () => showInstructions(words)],
    ...(number ? [["comment", words.comment_button, () => askComment(words, number)]] : []),
    ["withdraw", words.withdraw_button, () => askWithdrawal(words, withdraw)],
  ];
}

async function take() {
  keep("bearer", session.session, BROWSER);
  setSession(session.session);
  const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload";
  for (const kind of [navigator.webdriver && "webdriver", isReload && "reload"]) if (kind) report(kind).catch(() => {});
  setProgress(session.answered, session.total);
  countDown(session.trial.lease_ms);
  setFooter(...actions());
  const wasRead = await introduce(session, words);
  await doTrials(wasRead ? null : session.trial);
}

// Ask for consent, unless it was given in this tab, and for a place.
async function consent() {
  const version = session.consent_version;
  if (recall("agreed") !== version && !(await askConsent(words))) return end("end", words.declined);
  keep("agreed", version);
  const given = await call("POST", "consent", { token, ...person(), consent_version: version, agreed: true });
  session = { ...session, ...given };
  await take();
}

// Go on as the server says: `state` is that of the session, or why there is none.
async function goOn(state, facts) {
  if (state === "complete") return finish(facts);
  if (state === "active" && facts.trial.lease_ms > 0) return take();
  if (state === "new" || state === "active") return consent();
  const next = state === "wait" ? button(words.retry_button, start) : null;
  const texts = words[state] ?? words.failed;
  end(next ? "wait" : "end", texts.map((text) => fill(text, { minutes: facts.retry_minutes })), { ...facts, next });
}

async function begin() {
  visit += 1;
  session = await call("POST", "session", { token, ...person() });
  words = session.texts;
  setWords(words);
  if (session.is_preview) setBanner(words.preview_banner, "preview");
  else startKeeping();
  if (isUnaccepted()) return showUnaccepted(words);
  await goOn(session.state, session);
}

// Show why the server refuses. A session that ended elsewhere, or a changed consent text, starts again from the server.
async function recover(error, starts = 1) {
  if (!(error instanceof Refused)) throw error;
  const mayStart = starts < MOST_STARTS && (error.status === 401 || ["not_active", "consent_changed"].includes(error.code));
  if (mayStart) return begin().catch((again) => recover(again, starts + 1));
  if (error.body.texts) words = { ...words, ...error.body.texts };
  if (error.body.texts) setWords(words);
  await goOn(error.body.texts ? "gone" : error.code, error.body);
}

function start() {
  begin().catch(recover).catch((error) => {
    end("end", words.failed);
    throw error;
  });
}

window.addEventListener("beforeunload", (event) => recall("unsaved") && event.preventDefault());
ignoreRepeats();
start();
