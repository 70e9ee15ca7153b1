import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { uuidFromPodId } from "../../../adapters/podman/parse/parse-pod.ts";
import { nsFromRfc3339 } from "../../../adapters/podman/parse/parse-time.ts";
import { type Event, EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { PublicAPI, type Event as RktEvent } from "../../../gen/v1alpha/api_pb.ts";

/** A listener that is interrupted repeatedly, and continues each time. */
export interface Recorder<Item> {
  readonly reported: readonly Item[];
  /** Number of interruptions, including those when the gateway was away. */
  readonly cuts: number;
  stop(): Promise<void>;
}

/** @param once connects and adds events to `reported` until it is interrupted */
function record<Item>(once: (signal: AbortSignal, reported: Item[]) => Promise<void>): Recorder<Item> {
  const reported: Item[] = [];
  const stopping = new AbortController();
  let cuts = 0;
  const recording = (async () => {
    while (!stopping.signal.aborted) {
      const cut = AbortSignal.timeout(300 + Math.floor(Math.random() * 2_500));
      await once(AbortSignal.any([stopping.signal, cut]), reported).catch(() => {});
      cuts += 1;
      await sleep(Math.random() * 200);
    }
  })();
  return {
    reported,
    get cuts() {
      return cuts;
    },
    async stop() {
      stopping.abort();
      await recording;
    },
  };
}

/** A listener that continues from a cursor. */
export interface EventRecorder extends Recorder<Event> {
  /** Resolves when it has its first cursor: from then on it misses nothing. */
  readonly begun: Promise<void>;
}

/** A listener that continues from a cursor and gets each event once. @param url returns the gateway's current URL */
export function recordEvents(url: () => string): EventRecorder {
  let cursor: string | undefined;
  const begun = Promise.withResolvers<void>();
  const recorder = record<Event>(async (signal, reported) => {
    const client = createClient(EventService, createGrpcTransport({ baseUrl: url() }));
    const start = cursor === undefined ? {} : { start: { case: "cursor" as const, value: cursor } };
    for await (const { message } of client.subscribe({ ...start, topics: ["pods"] }, { signal })) {
      if (message.case === "event") {
        reported.push(message.value);
      }
      cursor = message.value?.cursor ?? cursor;
      begun.resolve();
    }
  });
  // A copy would not count the cuts.
  return Object.assign(recorder, { begun: begun.promise });
}

export interface TimedRktEvent {
  readonly event: RktEvent;
  readonly atMs: number;
}

/** Returns a text that identifies an event. */
export function rktKey({ type, id, from, time, data }: RktEvent): string {
  return [type, id, from, time, ...data.map(({ Key, value }) => `${Key}=${value}`)].join(" ");
}

/** A listener that continues from a time, gets the events of the last seconds again, and drops them. */
export function recordRktEvents(url: () => string): Recorder<TimedRktEvent> {
  const seen = new Set<string>();
  let latest = BigInt(Math.floor(Date.now() / 1_000));
  return record(async (signal, reported) => {
    const client = createClient(PublicAPI, createGrpcTransport({ baseUrl: url() }));
    const filter = { sinceTime: latest - 30n };
    for await (const { events } of client.listenEvents({ filter }, { signal })) {
      for (const event of events) {
        if (!seen.has(rktKey(event))) {
          seen.add(rktKey(event));
          reported.push({ event, atMs: Date.now() });
        }
        latest = event.time > latest ? event.time : latest;
      }
    }
  });
}

/** Podman's own log, including rotated parts. */
export interface LogKeeper {
  /** Reads the log once more, and returns the events that follow from it: `container.exited UUID NAME 3 NANOSECONDS`. */
  expected(): Promise<ReadonlySet<string>>;
  stop(): Promise<void>;
}

interface LogLine {
  readonly ID: string;
  readonly Name: string;
  readonly Status: string;
  readonly Type: string;
  readonly Time: string;
  readonly PodID?: string;
  readonly ContainerExitCode?: number;
}

export function keepLog(path: string): LogKeeper {
  const lines = new Set<string>();
  const stopping = new AbortController();
  const read = async () => {
    for (const line of (await readFile(path, "utf8").catch(() => "")).split("\n")) {
      lines.add(line);
    }
  };
  const keeping = (async () => {
    while (!stopping.signal.aborted) {
      await read();
      await sleep(500, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    async expected() {
      await read();
      return expectedFrom([...lines].flatMap(parseLine));
    },
    async stop() {
      stopping.abort();
      await keeping;
    },
  };
}

function parseLine(line: string): readonly LogLine[] {
  try {
    return [JSON.parse(line)];
  } catch {
    // The last line may be incomplete.
    return [];
  }
}

/** Returns the expected events of the storm's pods, each of which has one app that runs once. */
function expectedFrom(records: readonly LogLine[]): ReadonlySet<string> {
  const podOf = new Map(
    records.flatMap(({ ID, PodID }) => (PodID === undefined ? [] : [[ID, PodID] as const])),
  );
  const isStorm = ({ Name }: LogLine) => Name.startsWith("storm-");
  const pods = records.filter((line) => line.Type === "pod" && isStorm(line));
  const ids = new Set(pods.map(({ ID }) => ID));
  const expected = pods.flatMap(({ ID, Status, Time }) => {
    const type = { create: "pod.created", remove: "pod.removed" }[Status];
    return type === undefined ? [] : [wordsOf(type, uuidFromPodId(ID), "", "", Time)];
  });
  for (const line of records.filter(({ Type }) => Type === "container")) {
    const podId = podOf.get(line.ID) ?? "";
    const [uuid, isApp] = [uuidFromPodId(podId), isStorm(line)];
    if (ids.has(podId) && line.Status === "start") {
      expected.push(
        isApp
          ? wordsOf("container.started", uuid, line.Name, "", line.Time)
          : wordsOf("pod.started", uuid, "", "", line.Time),
      );
    }
    if (ids.has(podId) && line.Status === "died" && isApp) {
      expected.push(
        wordsOf("container.exited", uuid, line.Name, String(line.ContainerExitCode ?? 0), line.Time),
      );
      expected.push(wordsOf("pod.exited", uuid, "", "", line.Time));
    }
  }
  return new Set(expected);
}

function wordsOf(type: string, uuid: string, container: string, code: string, time: string): string {
  return `${type} ${uuid} ${container} ${code} ${nsFromRfc3339(time)}`;
}

/** Returns a published event in the same format; undefined if it is not about a pod. */
export function wordsOfEvent({ type, detail }: Event): string | undefined {
  if (detail.case !== "pod") {
    return undefined;
  }
  const { id, container, exitCode, happenedAt } = detail.value;
  const { seconds = 0n, nanos = 0 } = happenedAt ?? {};
  return `${type} ${id} ${container} ${exitCode ?? ""} ${seconds * 1_000_000_000n + BigInt(nanos)}`;
}
