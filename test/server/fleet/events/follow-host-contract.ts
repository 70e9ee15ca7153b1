import { setTimeout as delay } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import type { Test } from "tap";
import { FollowEventsResponseSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import { cursorFrom } from "../../../../server/events/cursor.ts";
import type { CertifiedHost } from "../../../../server/fleet/authority/issue-certificate.ts";
import { createEventBudget, type EventBudget } from "../../../../server/fleet/events/event-budget.ts";
import { followHost } from "../../../../server/fleet/events/follow-host.ts";
import type { HostLink } from "../../../../server/fleet/links/host-link.ts";
import { envelopeOf } from "../../../../server/rpc/protocols/wire/envelope.ts";
import type { StoreOptions } from "../../../../server/store/open-store.ts";
import { openStoreWithEvents, range, type StoreWithEvents } from "../../events/store-with-events.ts";
import { until } from "../../harness/until.ts";
import { addHost } from "../store/add-host.ts";
import { type HostAnswer, hostEvent, openScriptedHost } from "./scripted-host.ts";

const at = (seq: number) => cursorFrom({ epoch: "a", seq });
const seqOf = (cursor: string) => Number(Buffer.from(cursor, "base64url").toString().split(".")[1] ?? 0);

/** Answers like an agent that has the events 1 to `count`, in batches of three. */
function answerUpTo(count: number) {
  return (cursor: string, host: HostAnswer) => {
    const from = cursor === "" ? 0 : seqOf(cursor);
    host.send({ cursor: at(from) });
    for (let seq = from; seq < count; seq += 3) {
      const last = Math.min(seq + 3, count);
      host.send({ cursor: at(last), events: range(seq + 1, last).map((id) => hostEvent(id)) });
    }
  };
}

interface Follower {
  readonly failures: unknown[];
  stop(): Promise<void>;
}

function follow(
  t: Test,
  store: StoreWithEvents,
  host: CertifiedHost,
  link: HostLink,
  owner = "hub-1",
  budget: EventBudget = createEventBudget({
    burstBytes: 1 << 20,
    bytesPerSecond: 1 << 20,
    onWait: () => t.fail("the budget is used up"),
  }),
): Follower {
  const stopping = new AbortController();
  const failures: unknown[] = [];
  const onFailed = (error: unknown) => failures.push(error);
  const following = followHost(
    { link, host, hub: owner, owner, store, budget, leaseMs: 60_000, onFailed },
    AbortSignal.any([stopping.signal, link.closed]),
  );
  const stop = async () => {
    stopping.abort();
    await following;
  };
  t.teardown(stop);
  return { failures, stop };
}

/** Returns the events of hosts in the log, as the numbers of their resources or their types. */
async function mergedIn(store: StoreWithEvents): Promise<(number | string)[]> {
  const { rows } = await store.run("events.read", { afterSeq: 0, limit: 10_000 });
  return rows
    .filter(({ fleet_host }) => fleet_host !== "")
    .map(({ type, resource }) => (type === "gap" ? type : Number(resource.slice("volumes/".length))));
}

const untilMerged = (store: StoreWithEvents, count: number) =>
  until(async () => (await mergedIn(store)).length >= count);

/** Tests that hubs append the events of a host once and in order, whatever the host and the connection do. */
export function testFollowHostContract(
  t: Test,
  makeOptions: (t: Test) => Promise<Partial<StoreOptions>>,
): void {
  async function start(t: Test) {
    const options = await makeOptions(t);
    const store = await openStoreWithEvents(t, options);
    return { store, host: await addHost(store, "node-1") };
  }

  t.test("events are appended once and in order, over broken connections", async (t) => {
    const { store, host } = await start(t);
    for (const count of [7, 8, 20]) {
      const { link, cut } = await openScriptedHost(t, "node-1", answerUpTo(count));
      const { stop } = follow(t, store, host, link);
      await untilMerged(store, count);
      cut();
      await stop();
    }
    t.same(await mergedIn(store), range(1, 20));
  });

  t.test("a batch may arrive in parts", async (t) => {
    const { store, host } = await start(t);
    const { link } = await openScriptedHost(t, "node-1", async (_cursor, answer) => {
      for (const part of [1, 2, 3]) {
        const events = [hostEvent(part, { operationId: "x".repeat(100) })];
        const bytes = envelopeOf(
          toBinary(
            FollowEventsResponseSchema,
            create(FollowEventsResponseSchema, { cursor: at(part), events }),
          ),
        );
        for (const piece of [bytes.subarray(0, 3), bytes.subarray(3, 20), bytes.subarray(20)]) {
          answer.sendBytes(piece);
          await delay(20);
        }
      }
    });
    const { failures } = follow(t, store, host, link);
    await untilMerged(store, 3);
    t.same(await mergedIn(store), [1, 2, 3]);
    t.same(failures, []);
  });

  t.test("several hubs append each event once, and take over from each other", async (t) => {
    const { store, host } = await start(t);
    const counts = [30, 60, 90];
    for (const count of counts) {
      const links = await Promise.all([1, 2, 3].map(() => openScriptedHost(t, "node-1", answerUpTo(count))));
      const hubs = links.map(({ link }, index) => follow(t, store, host, link, `hub-${index + 1}`));
      await untilMerged(store, count);
      await Promise.all(hubs.map(({ stop }) => stop()));
      t.same(
        hubs.flatMap(({ failures }) => failures),
        [],
      );
    }
    t.same(await mergedIn(store), range(1, 90));
  });

  t.test("events that a host no longer has become a gap", async (t) => {
    const { store, host } = await start(t);
    const first = await openScriptedHost(t, "node-1", answerUpTo(3));
    const following = follow(t, store, host, first.link);
    await untilMerged(store, 3);
    await following.stop();
    let requests: string[] = [];
    const purged = await openScriptedHost(t, "node-1", (cursor, answer) => {
      requests.push(cursor);
      if (seqOf(cursor) < 6) {
        answer.fail("HISTORY_GONE", { oldestCursor: at(6) });
      } else {
        answerUpTo(8)(cursor, answer);
      }
    });
    const second = follow(t, store, host, purged.link);
    await untilMerged(store, 6);
    await second.stop();
    t.same(requests, [at(3), at(6)]);
    t.same(await mergedIn(store), [1, 2, 3, "gap", 7, 8]);
    t.same(second.failures, []);

    requests = [];
    const restored = await openScriptedHost(t, "node-1", (cursor, answer) => {
      requests.push(cursor);
      if (cursor === at(8)) {
        answer.fail("HISTORY_GONE", { oldestCursor: at(1) });
      } else {
        answer.send({ cursor: at(2) });
        answer.send({ cursor: at(3), events: [hostEvent(33)] });
      }
    });
    const third = follow(t, store, host, restored.link);
    await untilMerged(store, 8);
    await third.stop();
    t.same(requests, [at(8), ""], "from now on: it would repeat events otherwise");
    t.same((await mergedIn(store)).slice(6), ["gap", 33]);
  });

  t.test("a host is charged for all that its events take in the log", async (t) => {
    const { store, host } = await start(t);
    const services = Array.from({ length: 60 }, (_, at) => `proto.${"s".repeat(190)}${at}`);
    const { link } = await openScriptedHost(t, "node-1", (_cursor, answer) => {
      const event = { ...hostEvent(1, { operationId: "x".repeat(100) }), services };
      answer.send({ cursor: at(1), events: [event] });
    });
    let takenBytes = 0;
    const budget: EventBudget = {
      async take(bytes) {
        takenBytes += bytes;
      },
    };
    follow(t, store, host, link, "hub-1", budget);
    await untilMerged(store, 1);
    t.ok(takenBytes > services.join().length + 100, `${takenBytes} bytes`);
  });

  t.test("what a host must not send is refused, and reported once", async (t) => {
    const { store, host } = await start(t);
    const attacks: readonly ((answer: HostAnswer) => void)[] = [
      (answer) => answer.sendBytes(Buffer.from([0, 0x7f, 0xff, 0xff, 0xff])),
      (answer) => answer.sendBytes(envelopeOf(Buffer.alloc(64, 0xff))),
      (answer) => answer.send({ cursor: "" }),
      (answer) => answer.send({ cursor: "x".repeat(129), events: [hostEvent(1)] }),
      (answer) => answer.sendBytes(envelopeOf(Buffer.from("not JSON"), 2)),
      (answer) => answer.end(),
    ];
    for (const attack of attacks) {
      let count = 0;
      const { link, cut } = await openScriptedHost(t, "node-1", (_cursor, answer) => {
        count += 1;
        attack(answer);
      });
      const { failures, stop } = follow(t, store, host, link);
      await until(() => count === 3);
      cut();
      await stop();
      t.equal(failures.length, 1, String(failures[0]));
    }
    t.same(await mergedIn(store), []);

    const forged = hostEvent(1, { topic: "fleet", type: "host.removed" });
    const { link } = await openScriptedHost(t, "node-1", (_cursor, answer) => {
      answer.send({ cursor: at(5), events: [hostEvent(4), forged, forged, hostEvent(5)] });
    });
    follow(t, store, host, link);
    await untilMerged(store, 3);
    t.same(await mergedIn(store), [4, 5, "gap"], "the others of the batch are kept");
    const { rows } = await store.run("events.read", { afterSeq: 0, limit: 100 });
    t.match(JSON.parse(rows.at(-1)?.payload_json ?? ""), { gap: { reason: /2 events of host node-1/ } });
  });
}
