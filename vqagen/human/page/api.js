// Requests to the server, whose page is at s/TOKEN under its address. A request that may be lost is sent again, unchanged, until the server answers.

const PAUSES = [500, 1000, 2000, 4000, 8000, 15000]; // milliseconds between attempts; the last one repeats
const LONGEST_REQUEST = 20000; // milliseconds

// An answer of the server that sending the same again would not change.
export class Refused extends Error {
  constructor(status, body) {
    super(body.message || `status ${status}`);
    Object.assign(this, { status, body, code: body.error || "" });
  }
}

let bearer = "";

export function setSession(token) {
  bearer = token;
}

async function request(method, path, body) {
  const headers = { ...(body && { "Content-Type": "application/json" }), ...(bearer && { Authorization: `Bearer ${bearer}` }) };
  const signal = AbortSignal.timeout(LONGEST_REQUEST);
  const response = await fetch(`../api/v1/${path}`, { method, headers, body: body && JSON.stringify(body), cache: "no-store", signal });
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

// Return the server's answer. `onWait` is called with the error when an attempt has failed, and with null at the end.
export async function send(method, path, body, onWait) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const content = await request(method, path, body);
      onWait(null);
      return content;
    } catch (error) {
      onWait(isTemporary(error) ? error : null);
      if (!isTemporary(error)) throw error;
      await pause(PAUSES[Math.min(attempt, PAUSES.length - 1)]);
    }
  }
}

// Resolve after some time, or as soon as the browser is online again.
function pause(milliseconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    window.addEventListener("online", resolve, { once: true });
  });
}

// Report an event once: nothing else depends on it.
export function report(kind, detail = "", number = undefined) {
  return request("POST", "events", { kind, detail, number });
}
