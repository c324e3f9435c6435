// Requests to the server, whose page is at s/TOKEN under its address. A request that may be lost is sent again, unchanged, until the server answers.

const PAUSES = [500, 1000, 2000, 4000, 8000, 15000]; // milliseconds between attempts; the last one repeats
const LONGEST_REQUEST = 20000; // milliseconds

// An answer of the server that sending the same again would not change.
export class Refused extends Error {
  constructor(status, body) {
    super(body.message || `status ${status}`);
    this.status = status;
    this.code = body.error || "";
    this.body = body;
  }
}

let bearer = "";

export function setSession(token) {
  bearer = token || "";
}

async function request(method, path, body) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (bearer) headers.Authorization = `Bearer ${bearer}`;
  const response = await fetch(`../api/v1/${path}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    signal: AbortSignal.timeout(LONGEST_REQUEST),
  });
  const text = await response.text();
  if (!response.ok) throw new Refused(response.status, parsed(text));
  return text ? JSON.parse(text) : {};
}

// The error that a reply states. A proxy before the server may reply with HTML.
function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

// True if sending the same again may help: nothing was received, or the server is busy or stopped for a moment.
function isTemporary(error) {
  return !(error instanceof Refused) || error.status >= 500 || error.status === 429 || error.status === 408;
}

// Return the server's answer. `onWait(true)` is called when an attempt has failed, `onWait(false)` at the end.
export async function send(method, path, body, onWait = () => {}) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const content = await request(method, path, body);
      onWait(false);
      return content;
    } catch (error) {
      onWait(isTemporary(error));
      if (!isTemporary(error)) throw error;
      await pause(PAUSES[Math.min(attempt, PAUSES.length - 1)]);
    }
  }
}

// Resolve after some time, or as soon as the browser is online again.
function pause(milliseconds) {
  return new Promise((resolve) => {
    const finish = () => {
      window.removeEventListener("online", finish);
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    window.addEventListener("online", finish);
  });
}

// Report an event; nothing depends on it.
export function report(kind, detail = "") {
  if (bearer) request("POST", "events", { kind, detail }).catch(() => {});
}
