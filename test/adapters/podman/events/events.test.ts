import fc from "fast-check";
import { test } from "tap";
import type { RuntimeEvent } from "../../../../adapters/podman/adapter.ts";
import { createEventInterpreter } from "../../../../adapters/podman/events/event-meaning.ts";
import { createEventQueue } from "../../../../adapters/podman/events/event-queue.ts";
import { parseContainerRows } from "../../../../adapters/podman/parse/parse-container.ts";
import { type EventRecord, parseEvent } from "../../../../adapters/podman/parse/parse-event.ts";
import { parsePodRows } from "../../../../adapters/podman/parse/parse-pod.ts";
import { reasonOfCall } from "../../host/reason-of.ts";
import { eventsText, replyOf } from "../samples.ts";

const lines = eventsText().trimEnd().split("\n");

function interpret(records: readonly EventRecord[], interpreter = createEventInterpreter()): RuntimeEvent[] {
  return records.flatMap((record) => interpreter.read(record).event ?? []);
}

function story(events: readonly RuntimeEvent[], podName: string): string[] {
  return events.flatMap((event) => {
    if (!("podName" in event) || event.podName !== podName || ("isInfra" in event && event.isInfra)) {
      return [];
    }
    const name = "containerName" in event ? ` ${event.containerName}` : "";
    const code = "exitCode" in event ? ` ${event.exitCode}` : "";
    return [`${event.kind}${name}${code}`];
  });
}

test("records of pods yield their lives, restarts and exit codes", async (t) => {
  const events = interpret(lines.map(parseEvent));
  t.strictSame(story(events, "flap"), [
    "podCreated",
    "containerCreated flapping",
    "containerStarted flapping",
    "containerExited flapping 1",
    "containerStarted flapping",
    "containerExited flapping 1",
    "containerStarted flapping",
    "containerExited flapping 1",
    "containerRemoved flapping",
    "podRemoved",
  ]);
  t.ok(story(events, "web").includes("containerExited ticker 7"));
  const infra = events.filter((event) => "isInfra" in event && event.isInfra);
  t.ok(infra.some(({ kind }) => kind === "containerExited"));
  t.ok(infra.every((event) => "containerName" in event && /^[0-9a-f]{12}-infra$/.test(event.containerName)));
  t.notOk(
    events.some((event) => "containerName" in event && event.containerName === "odd"),
    "it belongs to no pod",
  );
  t.equal(new Set(events.map(({ key }) => key)).size, events.length);
});

test("an infra container with any name is recognized by its creation before its pod", async (t) => {
  const renamed = lines
    .map((line) => line.replace(/"name":"[0-9a-f]{12}-infra"/, '"name":"holder"'))
    .map(parseEvent);
  const isHolder = (event: RuntimeEvent) => "containerName" in event && event.containerName === "holder";
  const holders = interpret(renamed).filter(isHolder);
  t.ok(holders.length > 0);
  t.ok(holders.every((event) => "isInfra" in event && event.isInfra));
});

test("the pod of an exited container without a pod id is known from lists and earlier records", async (t) => {
  const died = lines.map(parseEvent).filter(({ type, action }) => type === "container" && action === "died");
  t.ok(
    died.some(({ podId }) => podId === ""),
    "Podman 4.3.1 leaves it out",
  );
  const knowing = createEventInterpreter();
  knowing.learn(parsePodRows(replyOf("pods")), parseContainerRows(replyOf("containers")));
  t.equal(story(interpret(died, knowing), "flap").length, 3);
  const unknown = createEventInterpreter().read({ ...died[0], podId: "" } as EventRecord);
  t.match(unknown, { event: undefined, isUnknown: true });
  t.equal(interpret(died, knowing.copy()).length, interpret(died, knowing).length);
});

test("a batch of records is interpreted using its later records, too", async (t) => {
  const records = lines.map((line) =>
    parseEvent(line.replace(/"name":"[0-9a-f]{12}-infra"/, '"name":"holder"')),
  );
  // Starts in the middle of a container's life.
  const died = records.findIndex(({ action, podId }) => action === "died" && podId === "");
  const tail = records.slice(died);
  const [first] = tail;
  const later = tail.find(({ id, podId }) => id === first?.id && podId !== "");
  const interpreter = createEventInterpreter();
  interpreter.preview(tail);
  const reported = interpret(tail, interpreter);
  t.match(reported[0], { kind: "containerExited", containerId: first?.id, podId: later?.podId });
  const whole = createEventInterpreter();
  whole.preview(records);
  t.strictSame(
    interpret(records, whole).map(({ kind, key }) => [kind, key]),
    interpret(records).map(({ kind, key }) => [kind, key]),
  );
  const holders = interpret(records, whole.copy()).filter(
    (event) => "containerName" in event && event.containerName === "holder",
  );
  t.ok(holders.every((event) => "isInfra" in event && event.isInfra));
});

test("removed pods and containers are forgotten, even if no record reports the removal", async (t) => {
  const pods = new Map<string, string>();
  const containers = new Map<string, { podId: string; name: string; isInfra: boolean }>();
  const interpreter = createEventInterpreter(pods, containers);
  const [sample] = lines.map(parseEvent);
  if (sample === undefined) {
    throw new Error("there are no samples");
  }
  const live = (number: number, podId: string, actions: readonly string[]) => {
    const id = `${number}`.padStart(64, "0");
    for (const action of actions) {
      interpreter.read({ ...sample, type: "container", action, id, name: `app-${number}`, podId });
    }
  };
  for (let number = 0; number < 10_000; number += 1) {
    live(number, number % 2 === 0 ? "" : "f".repeat(64), ["create", "start", "died", "remove"]);
  }
  t.ok(containers.size <= 4_096, `${containers.size} containers are remembered`);
  for (let number = 10_000; number < 20_000; number += 1) {
    live(number, "", ["create"]);
  }
  interpreter.learn(parsePodRows(replyOf("pods")), parseContainerRows(replyOf("containers")));
  t.ok(containers.size <= 4_200, `${containers.size} containers are remembered`);
  const listed = parseContainerRows(replyOf("containers"));
  t.ok(listed.length > 0 && listed.every(({ Id }) => containers.has(Id)));
});

test("times are exact, and a repeated record has the same key", async (t) => {
  const [line = ""] = lines;
  const { timeNs, key } = parseEvent(line);
  t.match(line, `"timeNano":${timeNs}`);
  t.equal(parseEvent(line).key, key);
  t.equal(new Set(lines.map((each) => parseEvent(each).key)).size, new Set(lines).size);
});

test("any record is parsed or rejected", async () => {
  const spoiled = fc
    .tuple(fc.constantFrom(...lines), fc.nat(), fc.nat(8), fc.string({ maxLength: 4 }))
    .map(([line, at, length, words]) => {
      const from = at % line.length;
      return line.slice(0, from) + words + line.slice(from + length);
    });
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.json(), fc.string(), spoiled), async (line) => {
      const reason = await reasonOfCall(() => createEventInterpreter().read(parseEvent(line)));
      return reason === undefined || reason === "PODMAN_FAILED";
    }),
    { numRuns: 2_000 },
  );
});

function removed(timeNs: bigint): RuntimeEvent {
  return { kind: "podRemoved", timeNs, key: String(timeNs), podId: "", podUuid: "", podName: "" };
}

test("a reader gets all waiting events at once, and a gap if it is too slow", async (t) => {
  const queue = createEventQueue(3);
  const { signal } = new AbortController();
  const taken = queue.take(signal);
  queue.push(removed(1n));
  t.strictSame(await taken, [removed(1n)]);
  for (const timeNs of [2n, 3n, 4n]) {
    queue.push(removed(timeNs));
  }
  t.strictSame(await queue.take(signal), [removed(2n), removed(3n), removed(4n)]);
  for (let timeNs = 5n; timeNs < 16n; timeNs += 1n) {
    queue.push(removed(timeNs));
  }
  const reported = (await queue.take(signal)) ?? [];
  t.match(reported[0], { kind: "gap", sinceNs: 5n });
  t.ok(reported.length <= 3);
  t.strictSame(reported.at(-1), removed(15n));
  const leaving = new AbortController();
  const waiting = queue.take(leaving.signal);
  leaving.abort();
  t.equal(await waiting, undefined);
});
