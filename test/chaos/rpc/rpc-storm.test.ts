import { pino } from "pino";
import { test } from "tap";
import { parseCursor } from "../../../server/events/cursor.ts";
import { configSchema } from "../../../server/gateway/config/schema.ts";
import { openData } from "../../../server/gateway/open-data.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { historyFailures } from "../events/event-history.ts";
import { missingEnds, readOperations, readReportedStates } from "../operations/missing-ends.ts";
import { rpcStorm } from "./rpc-storm.ts";

/** Number of kills. */
const kills = Number(process.env.RPC_KILLS ?? 3);

/** Operation kinds that the storm starts. */
const sentKinds = [
  ...["pods.start", "pods.stop", "images.pull", "storagePool.expand", "volumes.backup", "volumes.restore"],
  ...["hypervisors.create", "hypervisors.destroy"],
];

const uuid = /^[0-9a-f]{8}-/;

test("changes with keys are made once and end although the gateway is killed, and every end is reported", async (t) => {
  const directory = await makeDirectory(t);
  const { calls, followers } = await rpcStorm(t, { directory, kills });
  const { store } = await openData({
    config: configSchema.parse({ data: directory }),
    isSandbox: true,
    environmentKey: undefined,
    logger: pino({ level: "silent" }),
    onLost: (error) => t.fail(error.message),
  });
  t.teardown(() => store.close());

  const operations = await readOperations(store);
  const known = new Set(operations.map(({ id }) => id));
  const pulls = Map.groupBy(operations, ({ input }) => (input as { reference?: string }).reference);
  for (const { key, reference, answers } of calls) {
    const ids = new Set(answers.filter((answer) => uuid.test(answer)));
    t.ok(ids.size <= 1, `${key} has one operation: ${answers}`);
    t.ok(
      [...ids].every((id) => known.has(id)),
      `${key} names existing operations`,
    );
    const started = reference === undefined ? 0 : (pulls.get(reference) ?? []).length;
    t.ok(started <= 1, `${key} has started ${started} operations: ${answers}`);
    t.ok(
      reference === undefined || ids.size === 0 || started === 1,
      `${key} has started the operation in its response`,
    );
    t.equal(
      uuid.test(answers[0] ?? ""),
      uuid.test(answers[1] ?? "") && answers[0] === answers[1],
      `${key}: ${answers}`,
    );
  }

  const reported = await readReportedStates(store);
  t.same(missingEnds(operations, reported), [], "every operation has ended, and its last event says so");
  const { rows } = await store.run("events.read", { afterSeq: 0, limit: 1_000_000 });
  const appended = rows.map(({ seq, topic }) => ({ seq, id: String(seq), topic }));
  const placeOf = (cursor: string) => parseCursor(cursor).seq;
  const topics = new Map(appended.map(({ id, topic }) => [id, topic]));
  for (const { name, connections } of followers) {
    const history = {
      name,
      matches: ({ id }: { readonly id: string }) => topics.get(id) === "operations",
      connections: connections.map(({ from, messages }) => ({
        from,
        messages: messages.map((message) =>
          message.kind === "event" ? { ...message, id: String(placeOf(message.cursor)) } : message,
        ),
      })),
    };
    t.same(historyFailures(history, appended, placeOf), [], `${name} received every event once and in order`);
  }

  const kinds = Map.groupBy(operations, ({ kind }) => kind);
  const unknown = calls.filter(({ answers }) => answers.includes("IDEMPOTENCY_OUTCOME_UNKNOWN"));
  t.comment(`${kills} kills, ${calls.length} calls, ${unknown.length} with an unknown outcome`);
  t.comment([...kinds].map(([kind, all]) => `${all.length} ${kind}`).join(", "));
  const counts = followers.map(({ name, connections }) => `${connections.length} connections by ${name}`);
  t.comment(`${reported.length} events, ${counts.join(", ")}`);
  t.same(
    sentKinds.filter((kind) => !kinds.has(kind)),
    [],
    "every kind of operation has occurred",
  );
});

test("an end that was not reported is found", async (t) => {
  const ended = { id: "a", state: "completed" } as const;
  const reported = [
    { id: "a", state: "active" },
    { id: "a", state: "completed" },
  ] as const;
  t.same(missingEnds([ended], reported), []);
  t.same(missingEnds([ended], reported.slice(0, 1)), ["a is completed, and its last event says active"]);
  t.same(missingEnds([{ id: "a", state: "active" }], reported), ["a has not ended: it is active"]);
});
