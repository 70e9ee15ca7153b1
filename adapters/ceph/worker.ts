import { loadLibrados, type RadosConnection, type RadosOptions, type RadosRefusal } from "./librados.ts";
import { parsePoolScrubs } from "./pool-scrubs.ts";
import { maxOutputLength, type RadosAnswer, type RadosRequest } from "./worker-protocol.ts";

// The process that runs librados. The gateway starts it, kills it when a call hangs, and starts another.

type Connected = Promise<RadosConnection | RadosRefusal>;

let connect: ((options: RadosOptions) => Connected) | undefined;
const connections = new Map<string, Connected>();

function connectionFor(options: RadosOptions): Connected {
  const key = JSON.stringify(options);
  const known = connections.get(key);
  if (known !== undefined) {
    return known;
  }
  connect ??= loadLibrados();
  const connected = connect(options).then((connection) => {
    if ("code" in connection) {
      connections.delete(key);
    }
    return connection;
  });
  connections.set(key, connected);
  return connected;
}

async function answer({ as, query }: RadosRequest): Promise<RadosAnswer> {
  let connection: RadosConnection | RadosRefusal;
  try {
    connection = await connectionFor(as);
  } catch (error) {
    return { unloadable: wordsOf(error) };
  }
  if ("code" in connection) {
    return connection;
  }
  if ("omapKeysOf" in query) {
    return connection.omapKeys(query.omapKeysOf, query.after);
  }
  if ("poolScrubs" in query) {
    const command = JSON.stringify({ prefix: "pg dump", dumpcontents: ["pgs"], format: "json" });
    const reply = await connection.command("mgr", command);
    return reply.code === 0 ? { ...reply, output: JSON.stringify(parsePoolScrubs(reply.output)) } : reply;
  }
  return connection.command(query.target, query.command);
}

function limited(reply: RadosAnswer): RadosAnswer {
  if ("output" in reply && reply.output.length > maxOutputLength) {
    return { code: tooBig, output: "", words: `the reply is longer than ${maxOutputLength} characters` };
  }
  return reply;
}

function failure(error: unknown): RadosAnswer {
  return { code: protocolError, output: "", words: wordsOf(error) };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// EFBIG and EPROTO.
const tooBig = -27;
const protocolError = -71;

process.on("message", ({ id, request }: { readonly id: number; readonly request: RadosRequest }) => {
  // Cannot reject: `send` on a closed channel emits "error", and "disconnect" ends this process.
  void answer(request)
    .catch(failure)
    .then((reply) => process.send?.({ id, reply: limited(reply) }));
});
// A normal exit would wait for hanging calls.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
