import { stat, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { type Event, EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { EventType, PublicAPI } from "../../../gen/v1alpha/api_pb.ts";
import { until } from "../../server/harness/until.ts";
import { labImage, podmanSkipReason } from "./podman.ts";
import {
  keepLog,
  type Recorder,
  recordEvents,
  recordRktEvents,
  rktKey,
  type TimedRktEvent,
  wordsOfEvent,
} from "./pods-events.ts";
import { fillEventsLog, startPodEventsLab, untilPublished } from "./pods-events-lab.ts";

const skip = podmanSkipReason();
const isFull = process.env.LAB_FULL === "1";
const timeout = isFull ? 1_800_000 : 300_000;

const stormPods = isFull ? 200 : 24;
/** Number of listeners of each kind. */
const listeners = 10;
const stops = 10;

test("interrupted listeners get every event of Podman's log once, although the gateway and Podman die in a storm", {
  skip,
  timeout,
}, async (t) => {
  const lab = await startPodEventsLab(t);
  const { podman } = lab.podman;
  await untilPublished(lab);
  await fillEventsLog(lab.podman);
  const log = keepLog(lab.podman.eventsLogPath);
  const byCursor = Array.from({ length: listeners }, () => recordEvents(lab.url));
  const byTime = Array.from({ length: listeners }, () => recordRktEvents(lab.url));
  t.teardown(() => Promise.all([log, ...byCursor, ...byTime].map((each) => each.stop())));
  await Promise.all(byCursor.map(({ begun }) => begun));

  let next = 0;
  const beganAtMs = performance.now();
  const live = async () => {
    for (let number = next++; number < stormPods; number = next++) {
      const name = `storm-${number}`;
      await podman("pod", "create", "--name", name, "--network", "none");
      const program = ["sh", "-c", `exit ${number % 200}`];
      await podman("run", "-d", "--pod", name, "--name", `${name}-job`, labImage, ...program);
      await podman("wait", `${name}-job`);
      await podman("pod", "rm", "-f", "-t", "0", name);
    }
  };
  const reached = async (share: number) => {
    while (next < stormPods * share) {
      await sleep(50);
    }
  };
  const trouble = async () => {
    await reached(0.15);
    await lab.podman.kill();
    await sleep(500);
    await lab.podman.start();
    await reached(0.4);
    await lab.restartGateway();
    await reached(0.6);
    await lab.podman.stop();
    await sleep(500);
    await lab.podman.start();
    await reached(0.8);
    await lab.restartGateway(async () => {
      await lab.podman.kill();
      await sleep(1_000);
      await lab.podman.start();
    });
  };
  await Promise.all([live(), live(), live(), live(), trouble()]);
  const lastedMs = performance.now() - beganAtMs;

  const expected = await log.expected();
  const stormWords = (reported: readonly Event[]) =>
    reported.flatMap((event) => {
      const words = wordsOfEvent(event);
      return words !== undefined && isStorm(event) ? [words] : [];
    });
  const deadlineMs = performance.now() + 60_000;
  const isReported = ({ reported }: Recorder<TimedRktEvent>) =>
    reported.filter(({ event }) => isStormRkt(event, byCursor[0]?.reported ?? [])).length >= expected.size;
  const isComplete = () =>
    byCursor.every(({ reported }) => stormWords(reported).length >= expected.size) &&
    byTime.every(isReported);
  while (!isComplete() && performance.now() < deadlineMs) {
    await sleep(500);
  }

  t.equal(expected.size, stormPods * 6);
  const [first] = byCursor;
  const order = (first?.reported ?? []).map(({ cursor }) => cursor);
  for (const { reported } of byCursor) {
    const words = stormWords(reported);
    t.strictSame(words.toSorted(), [...expected].toSorted(), "the events in Podman's log, each once");
    t.strictSame(
      reported.map(({ cursor }) => cursor),
      order,
      "in the same order",
    );
    t.notOk(reported.some(({ type }) => type === "gap"));
    t.notOk(reported.some(({ detail }) => detail.case === "pod" && detail.value.reconciled));
  }
  const everyone = byTime.map(({ reported }) => reported.map(({ event }) => rktKey(event)).toSorted());
  for (const [index, keys] of everyone.entries()) {
    const storm =
      byTime[index]?.reported.filter(({ event }) => isStormRkt(event, first?.reported ?? [])) ?? [];
    t.equal(storm.length, expected.size);
    t.strictSame(keys, everyone[0]);
  }
  t.ok((await stat(lab.podman.eventsLogPath)).size < 990_000, "the log was rotated");
  const cuts = [...byCursor, ...byTime].reduce((sum, each) => sum + each.cuts, 0);
  t.comment(
    `${stormPods} pods in ${Math.round(lastedMs / 1000)} s, ${expected.size} events, ${listeners * 2} listeners, ${cuts} interruptions`,
  );
});

function isStorm({ detail }: Event): boolean {
  return detail.case === "pod" && detail.value.name.startsWith("storm-");
}

function isStormRkt({ id }: { readonly id: string }, reported: readonly Event[]): boolean {
  return reported.some(
    (event) => isStorm(event) && event.detail.case === "pod" && event.detail.value.id === id,
  );
}

test("when Podman has lost its log, the differences are published, and then a gap", {
  skip,
  timeout,
}, async (t) => {
  const lab = await startPodEventsLab(t);
  const { podman } = lab.podman;
  await untilPublished(lab);
  const recorder = recordEvents(lab.url);
  t.teardown(recorder.stop);
  await recorder.begun;
  const names = ["stopped", "gone", "restarted"];
  for (const name of names) {
    await podman("pod", "create", "--name", name, "--network", "none");
    await podman("run", "-d", "--pod", name, "--name", `${name}-app`, labImage, "sleep", "1000");
  }
  const isStarted = (name: string) =>
    recorder.reported.some(
      ({ type, detail }) =>
        type === "container.started" && detail.case === "pod" && detail.value.name === name,
    );
  await until(() => names.every(isStarted));
  await lab.restartGateway(async () => {
    await podman("pod", "stop", "-t", "0", "stopped");
    await podman("pod", "rm", "-f", "-t", "0", "gone");
    await podman("restart", "-t", "0", "restarted-app");
    await podman("pod", "create", "--name", "fresh", "--network", "none");
    await podman("run", "-d", "--pod", "fresh", "--name", "fresh-app", labImage, "sleep", "1000");
    await writeFile(lab.podman.eventsLogPath, "");
  });
  const patience = AbortSignal.timeout(60_000);
  while (!recorder.reported.some(({ type }) => type === "gap") && !patience.aborted) {
    await sleep(100);
  }
  const words = (name: string) =>
    recorder.reported.flatMap(({ type, detail }) =>
      detail.case === "pod" && detail.value.name === name && detail.value.reconciled
        ? [`${type} ${detail.value.exitCode ?? ""}`.trim()]
        : [],
    );
  t.strictSame(words("stopped"), ["container.exited 137", "pod.exited"]);
  t.strictSame(words("gone"), ["container.exited", "pod.exited", "pod.removed"]);
  t.strictSame(words("restarted"), ["container.exited", "container.started"]);
  t.strictSame(words("fresh"), ["pod.created", "pod.started", "container.started"]);
  t.equal(recorder.reported.at(-1)?.type, "gap", "after the known state");
});

test("a stop from a shell is published within half a second", { skip, timeout }, async (t) => {
  const lab = await startPodEventsLab(t);
  const { podman } = lab.podman;
  await untilPublished(lab);
  await podman("pod", "create", "--name", "quick", "--network", "none");
  for (let number = 0; number < stops; number += 1) {
    await podman("run", "-d", "--pod", "quick", "--name", `quick-${number}`, labImage, "sleep", "1000");
  }
  const transport = createGrpcTransport({ baseUrl: lab.url() });
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const { signal } = leaving;
  const reportedAtMs = { byCursor: new Map<string, number>(), byTime: new Map<string, number>() };
  const diedAtMs = new Map<string, number>();
  const begun = Promise.withResolvers<void>();
  const listenByCursor = async () => {
    for await (const { message } of createClient(EventService, transport).subscribe(
      { topics: ["pods"] },
      { signal },
    )) {
      begun.resolve();
      if (
        message.case === "event" &&
        message.value.type === "container.exited" &&
        message.value.detail.case === "pod"
      ) {
        const { container, happenedAt } = message.value.detail.value;
        reportedAtMs.byCursor.set(container, Date.now());
        diedAtMs.set(container, Number(happenedAt?.seconds) * 1_000 + (happenedAt?.nanos ?? 0) / 1e6);
      }
    }
  };
  const listenByTime = async () => {
    const filter = { types: [EventType.APP_EXITED], sinceTime: BigInt(Math.floor(Date.now() / 1_000)) };
    for await (const { events } of createClient(PublicAPI, transport).listenEvents({ filter }, { signal })) {
      for (const { from } of events) {
        reportedAtMs.byTime.set(from, Date.now());
      }
    }
  };
  listenByCursor().catch(() => {});
  listenByTime().catch(() => {});
  await begun.promise;
  const afterCommandMs: number[] = [];
  const afterRecordMs: number[] = [];
  for (let number = 0; number < stops; number += 1) {
    const name = `quick-${number}`;
    await podman("stop", "-t", "0", name);
    const stoppedAtMs = Date.now();
    while (!reportedAtMs.byCursor.has(name) || !reportedAtMs.byTime.has(name)) {
      await sleep(5);
    }
    for (const reported of [reportedAtMs.byCursor, reportedAtMs.byTime]) {
      afterCommandMs.push((reported.get(name) ?? 0) - stoppedAtMs);
      afterRecordMs.push((reported.get(name) ?? 0) - (diedAtMs.get(name) ?? 0));
    }
  }
  const text = (times: readonly number[]) => {
    const sorted = times.toSorted((a, b) => a - b);
    return `median ${Math.round(sorted[sorted.length >> 1] ?? 0)} ms, longest ${Math.round(sorted.at(-1) ?? 0)} ms`;
  };
  t.comment(`after podman stop had ended: ${text(afterCommandMs)}; after the record: ${text(afterRecordMs)}`);
  const sorted = afterCommandMs.toSorted((a, b) => a - b);
  t.ok((sorted[sorted.length >> 1] ?? Number.POSITIVE_INFINITY) < 500);
});
