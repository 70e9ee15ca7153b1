import { once } from "node:events";
import { chmod, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Test, test } from "tap";
import { configSchema } from "../../../../server/gateway/config/schema.ts";
import type { ListenerFacts } from "../../../../server/rpc/call/listener-facts.ts";
import {
  adminSocketOf,
  createAdminListener,
  shortSocketPath,
} from "../../../../server/rpc/listener/admin-listener.ts";
import type { Listener } from "../../../../server/rpc/listener/listener.ts";

const config = configSchema.parse({});

async function directoryOf(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-admin-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

function listenerAt(path: string, facts: ListenerFacts[] = []): Listener {
  return createAdminListener({
    path,
    config,
    onRequest(_request, response, listener) {
      facts.push(listener);
      response.end("answered");
    },
    onStream: () => false,
  });
}

async function query(socketPath: string): Promise<string> {
  const requested = request({ socketPath, path: "/", agent: false }).end();
  const [response] = await once(requested, "response");
  return text(response);
}

test("a caller that can open the socket has the admin's access", async (t) => {
  const path = adminSocketOf(await directoryOf(t));
  const facts: ListenerFacts[] = [];
  const listener = listenerAt(path, facts);
  await listener.listen();
  t.teardown(() => listener.close(0));
  t.equal((await stat(path)).mode & 0o777, 0o600);
  t.equal(await query(path), "answered");
  t.match(facts, [{ access: "adminSocket", services: undefined, isLocal: true, address: `unix:${path}` }]);
});

test("the socket of a killed gateway is replaced, and one that is answered is not", async (t) => {
  const path = adminSocketOf(await directoryOf(t));
  const first = listenerAt(path);
  await first.listen();
  await t.rejects(listenerAt(path).listen(), /another process listens on .*admin\.sock/);
  t.equal(await query(path), "answered", "the first one continues");
  await first.close(0);

  const left = createServer().listen(path);
  await once(left, "listening");
  // The server no longer owns a renamed path, so it does not remove it: as after SIGKILL.
  const kept = join(path, "..", "kept.sock");
  await rename(path, kept);
  left.close();
  await rename(kept, path);
  await chmod(path, 0o777);
  const second = listenerAt(path);
  await second.listen();
  t.teardown(() => second.close(0));
  t.equal(await query(path), "answered");
  t.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a path that is too long names the limit; a short relative path is accepted", async (t) => {
  const long = join(tmpdir(), "d".repeat(120), "admin.sock");
  t.throws(
    () => shortSocketPath(long),
    /a socket path has at most 10[37] bytes, and this one has 1\d\d; .*--data/,
  );
  t.equal(shortSocketPath(join(process.cwd(), "data", "admin.sock")), join("data", "admin.sock"));
  t.equal(shortSocketPath("data/admin.sock"), join("data", "admin.sock"));
});
