// The state of the server, and the requests that change it: one after the other, each with the version it is about.

const listeners = [];
let queue = Promise.resolve();

export const current = { state: null };

export function onState(listener) {
  listeners.push(listener);
}

function take(state) {
  current.state = state;
  for (const listener of listeners) listener(state);
}

async function fetched(path, options) {
  let reply;
  try {
    reply = await fetch(path, options);
  } catch {
    throw { status: 0, messages: ["vqagen does not answer; is it still running? Your last change was not taken."] };
  }
  const content = await reply.json();
  if (!reply.ok) throw { status: reply.status, messages: content.messages };
  return content;
}

export async function load() {
  take(await fetched("state"));
}

// Send a change. The promise is rejected with {status, messages}.
export function send(path, body = {}) {
  const sent = queue.then(async () => {
    try {
      take(await fetched(path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ ...body, version: current.state.version }),
      }));
    } catch (error) {
      if (error.status === 409 && path !== "save") await load();
      throw error;
    }
  });
  queue = sent.catch(() => {});
  return sent;
}

export const edit = (change) => send("edit", change);
