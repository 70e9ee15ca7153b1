import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { type Test, test } from "tap";
import { copyStore } from "../../../server/store/copy-store.ts";
import { assertRunsOnce } from "../../server/rpc/interceptors/idempotency-contract.ts";
import { errorOf, testStoreContract } from "../../server/store/contract.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { keepLog, makeDirectory, openTestStore } from "../../server/store/store-under-test.ts";
import { assertNothingLost, killRounds, startWriter } from "../../server/store/writer.ts";
import { postgresPassword, reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const timeout = 900_000;

test("PostgreSQL keeps the store's guarantees", { skip }, async (t) => {
  const postgres = await startPostgres(t);
  testStoreContract(t, async () => ({ options: { url: await postgres.createDatabase(), directory: "" } }));
});

test("several gateways on one PostgreSQL", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);

  t.test("create the tables once when they start at the same time", async (t) => {
    const url = await postgres.createDatabase();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openTestStore(t, { url })));
    await Promise.all(stores.map((store) => store.run("counter.add", { name: "a", by: 1 })));
    t.equal(await stores[0]?.run("counter.read", { name: "a" }), 4);
  });

  t.test("count together without losing an increment, and none is starved", async (t) => {
    const url = await postgres.createDatabase();
    const stores = await Promise.all(Array.from({ length: 3 }, () => openTestStore(t, { url })));
    const waits: number[] = [];
    const count = async (lane: number) => {
      for (let turn = 0; turn < 20; turn += 1) {
        const startedMs = performance.now();
        await stores[lane % 3]?.run("counter.add", { name: "a", by: 1 });
        waits.push(performance.now() - startedMs);
      }
    };
    await Promise.all(Array.from({ length: 24 }, (_, lane) => count(lane)));
    t.equal(await stores[0]?.run("counter.read", { name: "a" }), 480);
    t.comment(`the longest wait was ${Math.round(Math.max(...waits))} ms`);
  });

  t.test("are notified of each other's commits, and of their own once", async (t) => {
    const url = await postgres.createDatabase();
    const [writer, reader] = [await openTestStore(t, { url }), await openTestStore(t, { url })];
    let ownCalls = 0;
    writer.subscribe("auth", () => {
      ownCalls += 1;
    });
    const received = new Promise<number>((resolve) =>
      reader.subscribe("auth", () => resolve(performance.now())),
    );
    const startedMs = performance.now();
    await writer.run("topic.notify", { topics: ["auth"] });
    const last = new Promise<void>((resolve) => reader.subscribe("audit", resolve));
    t.comment(`notified after ${Math.round((await received) - startedMs)} ms`);
    await writer.run("topic.notify", { topics: ["audit"] });
    await last;
    t.equal(ownCalls, 1);
  });

  t.test("are notified that they may have missed something when they listen again", async (t) => {
    const url = await postgres.createDatabase();
    const log = keepLog();
    const store = await openTestStore(t, { url, log });
    const reported = new Promise<void>((resolve) => store.subscribe("idempotency", resolve));
    const query = "select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen hostplane'";
    await postgres.query(query, url);
    await reported;
    t.match(log.lines.at(-2), /^warn: the connection that listens for changes by other gateways was lost/);
    t.match(log.lines.at(-1), /^info: listening for changes by other gateways again/);
  });

  t.test("refuse backups, which are pg_dump's job", async (t) => {
    const store = await openTestStore(t, { url: await postgres.createDatabase() });
    t.match(await errorOf(store.backup("/nowhere")), { reason: "BACKUP_REFUSED", message: /pg_dump/ });
  });

  t.test("do not report a transaction as committed that continued after a failed query", async (t) => {
    const store = await openTestStore(t, { url: await postgres.createDatabase() });
    const refused = await errorOf(store.run("counter.carelessly", { name: "a" }));
    t.equal(refused.reason, "INTERNAL");
    t.equal(await store.run("counter.read", { name: "a" }), undefined);
  });

  t.test("do not touch a database with other tables", async (t) => {
    const url = await postgres.createDatabase();
    await postgres.query("create table users (id text)", url);
    t.equal((await errorOf(openTestStore(t, { url }))).reason, "STORE_NOT_EMPTY");
    const tables = await postgres.query("select tablename from pg_tables where schemaname = 'public'", url);
    t.same(tables, [{ tablename: "users" }]);
  });
});

test("while PostgreSQL is away calls fail as unavailable, and they work again afterwards", {
  skip,
  timeout,
}, async (t) => {
  const postgres = await startPostgres(t);
  const log = keepLog();
  const url = await postgres.createDatabase();
  const store = await openTestStore(t, { url, log });
  await store.run("counter.add", { name: "a", by: 1 });
  await postgres.stop();
  const away = await errorOf(store.run("counter.read", { name: "a" }));
  t.match(away, { reason: "STORE_UNAVAILABLE", retryable: true });
  const atStart = await errorOf(openTestStore(t, { url }));
  t.match(atStart, { reason: "STORE_UNAVAILABLE", message: /127\.0\.0\.1.*ECONNREFUSED/ });
  const back = new Promise<void>((resolve) => store.subscribe("auth", resolve));
  await postgres.start();
  t.equal(await store.run("counter.read", { name: "a" }), 1);
  await back;
});

for (const isSent of [true, false]) {
  const when = isSent ? "after the server has received the commit" : "before the server receives the commit";
  test(`the outcome is unknown when a connection is lost ${when}`, { skip, timeout }, async (t) => {
    const postgres = await startPostgres(t);
    const direct = await postgres.createDatabase();
    const relay = await startCuttingRelay(t, direct, isSent);
    const observer = await openTestStore(t, { url: direct });
    const store = await openTestStore(t, { url: relay.url });
    t.equal(await store.run("counter.add", { name: "a", by: 1 }), 1);
    relay.cutAtCommit();
    const lost = await errorOf(store.run("counter.add", { name: "a", by: 1 }));
    t.match(lost, {
      reason: "STORE_UNAVAILABLE",
      effect: "possible",
      retryable: false,
      message: /during a commit/,
    });
    t.equal(await observer.run("counter.read", { name: "a" }), isSent ? 2 : 1);
    t.equal(
      await store.run("counter.add", { name: "a", by: 1 }),
      isSent ? 3 : 2,
      "a new connection is opened",
    );
    await assertRunsOnce(t, await openOwnStore(t), () => {
      relay.cutAtCommit();
      return store.run("counter.add", { name: "a", by: 1 });
    });
    t.equal(await observer.run("counter.read", { name: "a" }), isSent ? 4 : 2);
  });
}

/** Starts a relay to a database that cuts the connection at the next commit. If `isSent`, it forwards the commit first. */
async function startCuttingRelay(t: Test, direct: string, isSent: boolean) {
  const target = new URL(direct);
  const sockets = new Set<Socket>();
  let isArmed = false;
  const relay = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket.on("error", () => undefined));
    }
    far.pipe(near);
    near.on("data", (chunk: Buffer) => {
      const isCut = isArmed && chunk.includes("commit\0");
      isArmed &&= !isCut;
      if (!isCut) {
        far.write(chunk);
        return;
      }
      far.unpipe(near);
      if (isSent) {
        // A response shows that the server has committed.
        far.once("data", () => near.destroy()).resume();
        far.write(chunk);
      } else {
        near.destroy();
        far.destroy();
      }
    });
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  }).listen(0, "127.0.0.1");
  t.teardown(() => {
    relay.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  await once(relay, "listening");
  function cutAtCommit(): void {
    isArmed = true;
  }
  const url = new URL(direct);
  url.port = String((relay.address() as { port: number }).port);
  return { url: url.href, cutAtCommit };
}

test("a silent PostgreSQL is given up", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);
  const direct = new URL(await postgres.createDatabase());
  const sockets = new Set<Socket>();
  const relay = createServer((near) => {
    const far = connect(Number(direct.port), direct.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket.on("error", () => undefined));
    }
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  t.teardown(() => {
    relay.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  await once(relay, "listening");
  const { port } = relay.address() as { port: number };
  const url = new URL(direct);
  url.port = String(port);
  const store = await openTestStore(t, { url: url.href });
  await store.run("counter.add", { name: "a", by: 1 });
  for (const socket of sockets) {
    socket.unpipe().pause();
  }
  const startedMs = performance.now();
  t.equal((await errorOf(store.run("counter.add", { name: "a", by: 1 }))).reason, "STORE_UNAVAILABLE");
  t.ok(performance.now() - startedMs < 20_000, "within the time limit of a query");
  t.equal(
    await store.run("counter.read", { name: "a" }),
    1,
    "a new connection is opened, and nothing was written",
  );
});

test("the password is in no error and no log", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);
  const url = await postgres.createDatabase();
  const log = keepLog();
  const reported: unknown[] = [];
  const wrong = new URL(url);
  wrong.password = encodeURIComponent(`${postgresPassword}-wrong`);
  const badUrls = [
    wrong.href,
    `${url}-missing`,
    url.replace("127.0.0.1", "bad host"),
    url.replace(/:\d+\//, ":1/"),
  ];
  for (const bad of [...badUrls, `${url}?sslmode=require`]) {
    const error = await errorOf(openTestStore(t, { url: bad, log }));
    t.equal(error.reason, "STORE_UNAVAILABLE", error.message);
    reported.push(error);
  }
  const store = await openTestStore(t, { url, log });
  reported.push(await errorOf(store.run("counter.duplicate", { name: "a" })));
  await postgres.kill();
  reported.push(await errorOf(store.run("counter.read", { name: "a" })));
  await postgres.start();
  const everything = [...log.lines, ...reported.map(everythingOf)].join("\n");
  t.ok(everything.includes("127.0.0.1"), "there is text to search");
  for (const secret of [postgresPassword, encodeURIComponent(postgresPassword), "s3cr3t"]) {
    t.notOk(everything.includes(secret));
  }
});

test("no acknowledged write is lost, whichever process is killed", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);
  const url = await postgres.createDatabase();
  const killBackend = async () => {
    const query = "select pid from pg_stat_activity where application_name = 'hostplane'";
    const backends = await postgres.query(query);
    process.kill(Number(backends[Math.floor(Math.random() * backends.length)]?.pid), "SIGKILL");
  };
  const killCluster = async () => {
    await postgres.kill();
    await postgres.start();
  };
  for (let round = 1; round <= killRounds; round += 1) {
    const writer = startWriter(t, url, "");
    const some = () => writer.untilAcknowledged(1 + Math.floor(Math.random() * 200));
    await some();
    await killBackend();
    await some();
    await killCluster();
    await some();
    const report = await writer.kill();
    const store = await openTestStore(t, { url });
    await assertNothingLost(t, store, report, `round ${round}`);
    await store.close();
  }
});

test("a store moves from SQLite to PostgreSQL with all its rows", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);
  const url = await postgres.createDatabase();
  const directory = await makeDirectory(t);
  const options = { directory, url, kind: "real", keyCheck: "key-1" } as const;
  t.equal((await errorOf(copyStore(options))).reason, "STORE_MISSING");

  const source = await openTestStore(t, { directory });
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  await source.run("values.echo", { text: "Ä😀'\"\\", bytes, number: Number.MAX_SAFE_INTEGER });
  for (const name of Array.from({ length: 1203 }, (_, index) => `n${index}`)) {
    void source.run("counter.add", { name, by: 1 });
  }
  await source.run("audit.fill", { count: 12, removeLast: 2 });
  t.equal((await errorOf(copyStore(options))).reason, "STORE_IN_USE");
  await source.close();

  const otherKey = await errorOf(copyStore({ ...options, keyCheck: "key-2" }));
  t.equal(otherKey.reason, "MASTER_KEY_MISMATCH");
  const copied = await copyStore(options);
  t.equal(copied.get("meta"), 1203 + 10);
  t.equal(copied.get("signing_keys"), 1);
  t.equal(copied.get("audit_events"), 10);

  const target = await openTestStore(t, { url });
  t.equal(await target.run("counter.add", { name: "n1202", by: 1 }), 2);
  const [key] = await postgres.query("select * from signing_keys", url);
  t.same(new Uint8Array(key?.secret_sealed as Buffer), bytes);
  const { last } = await target.run("audit.fill", { count: 1, removeLast: 0 });
  t.equal(last, 13, "a number that was used in SQLite is not used again");
  await target.close();
  t.equal((await errorOf(copyStore(options))).reason, "STORE_NOT_EMPTY");
});

test("a failed copy leaves the target empty", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);
  const url = await postgres.createDatabase();
  const directory = await makeDirectory(t);
  const source = await openTestStore(t, { directory });
  await source.run("counter.add", { name: "a", by: 1 });
  await source.close();
  const options = { directory, url, kind: "real", keyCheck: "key-1" } as const;
  await postgres.query("create table signing_keys (id text)", url);
  t.equal((await errorOf(copyStore(options))).reason, "STORE_NOT_EMPTY");
  await postgres.query("drop table signing_keys", url);
  t.ok((await copyStore(options)).get("meta"), "and it can be repeated");
});

/** Returns everything that a logger could write about an error. */
function everythingOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return JSON.stringify(error) ?? "";
  }
  const { message, stack, cause } = error;
  return [message, stack, JSON.stringify(error), everythingOf(cause)].join("\n");
}
