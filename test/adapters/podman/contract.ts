import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Test, test } from "tap";
import type { LogOptions, PodRuntime, RuntimeEvent } from "../../../adapters/podman/adapter.ts";
import type { RuntimePod, RuntimeState } from "../../../adapters/podman/runtime-state.ts";
import { until as untilTrue } from "../../server/harness/until.ts";
import { reasonOf } from "../host/reason-of.ts";

/** Program of a container: prints `tick 0`, `tick 1`, ...; prints `begin` and `end` and exits; or does not exist. */
export type ContractProgram =
  | { readonly kind: "tick"; readonly everyMs: number }
  | { readonly kind: "exit"; readonly code: number; readonly afterMs: number }
  | { readonly kind: "missing" };

/** An adapter to test, and changes to its runtime from outside the gateway. */
export interface ContractSubject {
  readonly runtime: PodRuntime;
  /** Creates a pod and returns its id. @param image that of the containers; by default one that always exists */
  createPod(
    name: string,
    containers: Readonly<Record<string, ContractProgram>>,
    image?: string,
  ): Promise<string>;
  startContainer(name: string): Promise<void>;
  pauseContainer(name: string): Promise<void>;
  /** Starts a container outside pods; returns its id. */
  runOutsidePods(name: string, image: string): Promise<string>;
  removePod(name: string): Promise<void>;
  /** Creates an unused image with this name; returns its id. */
  addImage(name: string): Promise<string>;
  stopService(): Promise<void>;
  startService(): Promise<void>;
  /** Makes the runtime discard its records. */
  forgetHistory(): Promise<void>;
}

/**
 * Registers the tests that every PodRuntime must pass. Each has its own runtime, or one without traces of other tests.
 */
export function testPodRuntimeContract(
  kind: string,
  makeSubject: (t: Test) => Promise<ContractSubject>,
  { skip = false }: { readonly skip?: string | false } = {},
): void {
  function contractTest(behaviour: string, body: (t: Test, subject: ContractSubject) => Promise<void>): void {
    test(`${kind}: ${behaviour}`, { skip }, async (t) => {
      const subject = await makeSubject(t);
      t.teardown(() => subject.runtime.close());
      await body(t, subject);
    });
  }

  contractTest("reports a pod correctly from its creation until it is removed", async (t, subject) => {
    const { runtime } = subject;
    const id = await subject.createPod("life", {
      worker: { kind: "exit", code: 3, afterMs: 600 },
      server: { kind: "tick", everyMs: 200 },
    });
    const created = await untilPod(runtime, id, ({ containers }) => containers.length === 3);
    t.match(created, { name: "life", phase: "created", startedAtNs: undefined, networks: [] });
    t.equal(created.uuid.replaceAll("-", ""), id.slice(0, 32));
    t.strictSame(created.containers.map(({ isInfra, state }) => [isInfra, state]).sort(), [
      [false, "created"],
      [false, "created"],
      [true, "created"],
    ]);
    t.ok(isRecent(created.createdAtNs));

    await runtime.run({ kind: "startPod", podId: id });
    const running = podOf((await runtime.read()).value, id);
    t.equal(running?.phase, "running");
    const server = running?.containers.find(({ name }) => name === "server");
    t.equal(server?.state, "running");
    t.ok((server?.pid ?? 0) > 0);
    t.ok(isRecent(running?.startedAtNs ?? 0n));
    t.ok((running?.startedAtNs ?? 0n) >= created.createdAtNs);
    t.equal(JSON.parse(running?.document ?? "{}").Id, id);

    const half = await untilPod(runtime, id, ({ containers }) =>
      containers.some(({ name, state }) => name === "worker" && state === "exited"),
    );
    const worker = half.containers.find(({ name }) => name === "worker");
    t.equal(half.phase, "running");
    t.equal(worker?.exitCode, 3);
    t.ok((worker?.exitedAtNs ?? 0n) > (worker?.startedAtNs ?? 0n));
    // Podman may still be writing down how the worker ended.
    await untilTrue(async () =>
      isDeepStrictEqual(await runtime.inspectPod(id), podOf((await runtime.read()).value, id)),
    );

    await runtime.run({ kind: "stopPod", podId: id, graceSeconds: 1 });
    const stopped = podOf((await runtime.read()).value, id);
    t.equal(stopped?.phase, "exited");
    t.equal(stopped?.uuid, created.uuid);
    await runtime.run({ kind: "stopPod", podId: id, graceSeconds: 1 });
    await runtime.run({ kind: "removePod", podId: id, force: false });
    t.equal(podOf((await runtime.read()).value, id), undefined);
    t.equal(await reasonOf(runtime.inspectPod(id)), "POD_NOT_FOUND");
  });

  contractTest("pods and images are sorted by id, and readers share a read", async (t, subject) => {
    const { runtime } = subject;
    for (const name of ["one", "two", "three"]) {
      await subject.createPod(name, { [`${name}-1`]: { kind: "tick", everyMs: 500 } });
    }
    await subject.addImage("localhost/contract/sorted:1");
    const { value } = await until(
      runtime,
      ({ pods }) =>
        pods.length >= 3 && pods.every(({ containers }) => containers.length >= 2 || containers.length === 0),
    );
    const [podIds, imageIds] = [value.pods.map(({ id }) => id), value.images.map(({ id }) => id)];
    t.strictSame(podIds, podIds.toSorted());
    t.strictSame(imageIds, imageIds.toSorted());
    const snapshots = await Promise.all([runtime.read(), runtime.read(), runtime.read()]);
    t.ok(snapshots.every((each) => each.value === snapshots[0]?.value));
    const reason = new Error("left");
    await t.rejects(runtime.read(AbortSignal.abort(reason)), reason);
  });

  contractTest("events and history report a pod's life once and in order", async (t, subject) => {
    const { runtime } = subject;
    const startedNs = nowNs();
    const listener = listen(t, runtime);
    await listener.untilListening(subject);
    const id = await subject.createPod("told", { job: { kind: "exit", code: 5, afterMs: 100 } });
    await runtime.run({ kind: "startPod", podId: id });
    await listener.until((events) => events.some(({ kind }) => kind === "containerExited"));
    await subject.startContainer("job");
    await listener.until((events) => events.filter(({ kind }) => kind === "containerExited").length === 2);
    await subject.removePod("told");
    await listener.until((events) => events.some(({ kind }) => kind === "podRemoved"));

    const reported = listener.events().filter((event) => "podId" in event && event.podId === id);
    const job = reported.filter((event) => "containerName" in event && event.containerName === "job");
    t.strictSame(
      job.map(({ kind }) => kind),
      [
        "containerCreated",
        "containerStarted",
        "containerExited",
        "containerStarted",
        "containerExited",
        "containerRemoved",
      ],
    );
    for (const event of job) {
      t.match(event, { isInfra: false, podName: "told" });
      t.equal(
        "exitCode" in event ? event.exitCode : undefined,
        event.kind === "containerExited" ? 5 : undefined,
      );
      t.ok(isRecent(event.timeNs));
    }
    const infra = reported.filter((event) => "isInfra" in event && event.isInfra).map(({ kind }) => kind);
    t.strictSame(infra, ["containerCreated", "containerStarted", "containerExited", "containerRemoved"]);
    const ofPod = reported.filter((event) => event.kind === "podCreated" || event.kind === "podRemoved");
    t.strictSame(
      ofPod.map(({ kind }) => kind),
      ["podCreated", "podRemoved"],
    );
    t.match(ofPod, [{ podName: "told", podUuid: uuidOf(id) }, { podName: "told" }]);
    t.equal(new Set(reported.map(({ key }) => key)).size, reported.length, "each has a key of its own");

    const past = await runtime.history({ sinceNs: startedNs, untilNs: soonNs() });
    t.strictSame(
      past.filter((event) => "podId" in event && event.podId === id).map(({ key }) => key),
      reported.map(({ key }) => key),
    );
    t.strictSame(await runtime.history({ sinceNs: 0n, untilNs: 1n }), []);
    const created = ofPod[0];
    if (created !== undefined) {
      const [after] = await firstOf(runtime, created);
      t.equal(after?.key, past[past.findIndex(({ key }) => key === created.key) + 1]?.key);
    }
    const newest = past.at(-1);
    t.strictSame(
      newest && (await firstOf(runtime, newest)),
      [],
      "an empty batch is delivered if nothing has happened since",
    );
  });

  contractTest("reports added and removed images, but not the creation of containers", async (t, subject) => {
    const { runtime } = subject;
    const listener = listen(t, runtime);
    await listener.untilListening(subject);
    const id = await subject.addImage("localhost/contract/told:1");
    await listener.until((events) => events.some((event) => "imageId" in event && event.imageId === id));
    const image = (await runtime.read()).value.images.find((each) => each.id === id);
    t.match(image, { names: ["localhost/contract/told:1"] });
    t.strictSame(await runtime.inspectImage(id), image);
    await runtime.run({ kind: "removeImage", imageId: id, force: false });
    t.notOk((await runtime.read()).value.images.some((each) => each.id === id));
    await listener.until((events) => events.some(({ kind }) => kind === "imageRemoved"));
    t.equal(await reasonOf(runtime.inspectImage(id)), "IMAGE_NOT_FOUND");
    t.equal(
      await reasonOf(runtime.run({ kind: "removeImage", imageId: id, force: false })),
      "IMAGE_NOT_FOUND",
    );
    await subject.createPod("user", { user1: { kind: "tick", everyMs: 500 } });
    await listener.until((events) =>
      events.some((event) => "containerName" in event && event.containerName === "user1"),
    );
    const reported = listener.events().filter((event) => "imageId" in event && event.imageId === id);
    t.strictSame(
      reported.map(({ kind }) => kind),
      ["imageAdded", "imageRemoved"],
    );
    const used = podNamed((await runtime.read()).value, "user")?.containers.find(({ isInfra }) => !isInfra)
      ?.image.id;
    t.equal(
      await reasonOf(runtime.run({ kind: "removeImage", imageId: used ?? "", force: false })),
      "IMAGE_IN_USE",
    );
  });

  contractTest("returns what a container printed, for a time window and for a stream", async (t, subject) => {
    const { runtime } = subject;
    const id = await subject.createPod("printing", { job: { kind: "exit", code: 0, afterMs: 300 } });
    await runtime.run({ kind: "startPod", podId: id });
    const pod = await untilPod(runtime, id, ({ containers }) =>
      containers.some(({ isInfra, state }) => !isInfra && state === "exited"),
    );
    const job = pod.containers.find(({ isInfra }) => !isInfra)?.id ?? "";
    t.strictSame(await linesOf(runtime, job, {}), ["begin", "end"]);
    t.strictSame(await linesOf(runtime, job, { streams: ["stderr"] }), []);
    const untilNs = pod.createdAtNs - (pod.createdAtNs % 1_000_000_000n);
    t.strictSame(await linesOf(runtime, job, { untilNs }), []);
    t.strictSame(await linesOf(runtime, job, { sinceNs: nowNs() + 1_000_000_000n }), []);
    t.equal(await reasonOf(linesOf(runtime, "0".repeat(64), {})), "CONTAINER_NOT_FOUND");
    t.equal(await reasonOf(linesOf(runtime, "0".repeat(64), { follow: true })), "CONTAINER_NOT_FOUND");
    t.equal(
      await reasonOf(Promise.resolve().then(() => linesOf(runtime, "../../pods", {}))),
      "INVALID_FIELD",
    );
  });

  contractTest("a followed log marks the end of past output", async (t, subject) => {
    const { runtime } = subject;
    const id = await subject.createPod("earlier", {
      job: { kind: "exit", code: 0, afterMs: 100 },
      clock: { kind: "tick", everyMs: 100 },
      idle: { kind: "tick", everyMs: 60_000 },
    });
    const created = await untilPod(runtime, id, ({ containers }) => containers.length === 4);
    const idOf = (name: string) => created.containers.find((each) => each.name === name)?.id ?? "";
    t.strictSame(await earlierOf(runtime, idOf("idle")), []);
    await runtime.run({ kind: "startPod", podId: id });
    await untilPod(runtime, id, ({ containers }) => containers.some(({ state }) => state === "exited"));
    t.strictSame(await earlierOf(runtime, idOf("job")), ["begin", "end"]);
    const ticks = await earlierOf(runtime, idOf("clock"));
    t.strictSame(ticks.slice(0, 1), ["tick 0"]);
    t.ok(ticks.length < 100);
  });

  contractTest("a followed log continues across restarts and ends with the container", async (t, subject) => {
    const { runtime } = subject;
    const id = await subject.createPod("followed", { again: { kind: "exit", code: 1, afterMs: 200 } });
    const pod = await untilPod(runtime, id, ({ containers }) => containers.length === 2);
    const again = pod.containers.find(({ isInfra }) => !isInfra)?.id ?? "";
    const lines: string[] = [];
    const followed = (async () => {
      for await (const pieces of runtime.logs(again, { follow: true }, new AbortController().signal)) {
        lines.push(...pieces.map(({ bytes }) => Buffer.from(bytes).toString()));
      }
    })();
    await runtime.run({ kind: "startPod", podId: id });
    for (const count of [2, 4, 6]) {
      await untilTrue(() => lines.length === count);
      if (count < 6) {
        await subject.startContainer("again");
      }
    }
    await subject.removePod("followed");
    await followed;
    t.strictSame(lines, ["begin", "end", "begin", "end", "begin", "end"]);
  });

  contractTest("a followed log ends at its time, and when its reader leaves", async (t, subject) => {
    const { runtime } = subject;
    const id = await subject.createPod("ticking", { clock: { kind: "tick", everyMs: 100 } });
    await runtime.run({ kind: "startPod", podId: id });
    const pod = await untilPod(runtime, id, ({ phase }) => phase === "running");
    const clock = pod.containers.find(({ isInfra }) => !isInfra)?.id ?? "";
    const lines = await linesOf(runtime, clock, {
      follow: true,
      streams: ["stdout"],
      untilNs: nowNs() + 1_500_000_000n,
    });
    t.strictSame(lines.slice(0, 3), ["tick 0", "tick 1", "tick 2"]);
    t.strictSame(
      lines,
      lines.map((_, index) => `tick ${index}`),
    );
    const leaving = new AbortController();
    for await (const _ of runtime.logs(clock, { follow: true }, leaving.signal)) {
      leaving.abort();
    }
    t.pass("it ends without an error");
  });

  contractTest("during an outage of the runtime reads fail, and no event is lost", async (t, subject) => {
    const { runtime } = subject;
    const listener = listen(t, runtime);
    await listener.untilListening(subject);
    const id = await subject.createPod("outage", {
      clock: { kind: "tick", everyMs: 100 },
      job: { kind: "exit", code: 9, afterMs: 1_000 },
    });
    await runtime.run({ kind: "startPod", podId: id });
    const pod = podOf((await runtime.read()).value, id);
    const clock = pod?.containers.find(({ name }) => name === "clock")?.id ?? "";
    const lines: string[] = [];
    const leaving = new AbortController();
    const followed = (async () => {
      for await (const pieces of runtime.logs(clock, { follow: true, streams: ["stdout"] }, leaving.signal)) {
        lines.push(...pieces.map(({ bytes }) => Buffer.from(bytes).toString()));
      }
    })();
    await untilTrue(() => lines.length > 2);
    let changes = 0;
    const unsubscribe = runtime.subscribe(() => {
      changes += 1;
    });
    await runtime.read();
    await subject.stopService();
    t.equal(await reasonOf(runtime.read()), "PODMAN_UNAVAILABLE");
    t.equal(await reasonOf(runtime.history({ sinceNs: 0n, untilNs: soonNs() })), "PODMAN_UNAVAILABLE");
    t.equal(await reasonOf(linesOf(runtime, clock, {})), "PODMAN_UNAVAILABLE");
    t.equal(await reasonOf(runtime.run({ kind: "startPod", podId: id })), "PODMAN_UNAVAILABLE");
    t.match(await runtime.inspect(), { version: undefined, findings: [{ ok: false, fix: String }] });
    await untilTrue(() => changes > 0);
    await sleep(1_200);
    await subject.startService();

    await untilPod(runtime, id, ({ containers }) => containers.some(({ exitCode }) => exitCode === 9));
    await listener.until((events) => events.some((event) => "exitCode" in event && event.exitCode === 9));
    const exits = listener.events().filter((event) => "exitCode" in event && event.exitCode === 9);
    t.equal(exits.length, 1);
    t.notOk(listener.events().some(({ kind }) => kind === "gap"));
    const seen = lines.length;
    await untilTrue(() => lines.length > seen + 3);
    leaving.abort();
    await followed;
    t.strictSame(
      lines,
      lines.map((_, index) => `tick ${index}`),
    );
    unsubscribe();
  });

  contractTest("events that are no longer recorded are reported as a gap", async (t, subject) => {
    const { runtime } = subject;
    const first = await subject.createPod("before", { b: { kind: "tick", everyMs: 500 } });
    await untilPod(runtime, first, ({ containers }) => containers.length === 2);
    const place = (await runtime.history({ sinceNs: 0n, untilNs: soonNs() })).at(-1);
    if (place === undefined) {
      throw new Error("nothing is recorded");
    }
    await subject.forgetHistory();
    const second = await subject.createPod("after", { a: { kind: "tick", everyMs: 500 } });
    await untilPod(runtime, second, ({ containers }) => containers.length === 2);
    const [gap, ...rest] = await firstOf(runtime, place);
    t.match(gap, { kind: "gap", sinceNs: place.timeNs });
    t.ok(rest.every((event) => event.timeNs > place.timeNs));
    t.ok(rest.some((event) => "podId" in event && event.podId === second));
    const end = gap?.kind === "gap" ? gap.place : undefined;
    t.strictSame(end === undefined ? ["no place"] : await firstOf(runtime, end), []);
  });

  contractTest("impossible changes are refused with their reason", async (t, subject) => {
    const { runtime } = subject;
    const missing = "0".repeat(64);
    for (const step of [
      { kind: "startPod", podId: missing },
      { kind: "stopPod", podId: missing, graceSeconds: 1 },
      { kind: "killPod", podId: missing, signal: "SIGKILL" },
      { kind: "removePod", podId: missing, force: false },
    ] as const) {
      t.equal(await reasonOf(runtime.run(step)), "POD_NOT_FOUND", step.kind);
      t.ok(runtime.commandOf(step).join(" ").includes(missing));
    }
    const id = await subject.createPod("refused", { r1: { kind: "tick", everyMs: 500 } });
    t.equal(await reasonOf(runtime.run({ kind: "killPod", podId: id, signal: "SIGKILL" })), "POD_STATE");
    await runtime.run({ kind: "startPod", podId: id });
    await runtime.run({ kind: "startPod", podId: id });
    t.equal(await reasonOf(runtime.run({ kind: "removePod", podId: id, force: false })), "POD_STATE");
    await runtime.run({ kind: "killPod", podId: id, signal: "SIGKILL" });
    const killed = await untilPod(runtime, id, ({ phase }) => phase === "exited");
    t.ok(killed.containers.every(({ exitCode }) => exitCode === 137));
    await runtime.run({ kind: "removePod", podId: id, force: true });

    const broken = await subject.createPod("broken", { nothing: { kind: "missing" } });
    t.equal(await reasonOf(runtime.run({ kind: "startPod", podId: broken })), "POD_START_FAILED");
    t.equal(await reasonOf(runtime.run({ kind: "startPod", podId: "web" })), "INVALID_FIELD");
    t.equal(await reasonOf(runtime.run({ kind: "pullImage", reference: "dir:/etc" })), "INVALID_FIELD");
    t.equal(
      await reasonOf(runtime.run({ kind: "pullImage", reference: "localhost:1/missing/image:1" })),
      "IMAGE_PULL_FAILED",
    );
  });

  for (const graceSeconds of [0, 1]) {
    contractTest(`stops paused containers with ${graceSeconds} seconds of grace`, async (t, subject) => {
      const { runtime } = subject;
      const program = { kind: "tick", everyMs: 500 } as const;
      const podId = await subject.createPod("held", { h1: program, h2: program });
      await runtime.run({ kind: "startPod", podId });
      await subject.pauseContainer("h1");
      const statesOf = async () =>
        (await runtime.inspectPod(podId)).containers.map(({ state }) => state).toSorted();
      t.equal(await reasonOf(runtime.run({ kind: "startPod", podId })), "POD_STATE");
      t.equal(await reasonOf(runtime.run({ kind: "killPod", podId, signal: "SIGTERM" })), "POD_STATE");
      t.equal(await reasonOf(runtime.run({ kind: "removePod", podId, force: false })), "POD_STATE");
      t.strictSame(await statesOf(), ["paused", "running", "running"], "refused before anything is done");
      t.equal(podOf((await runtime.read()).value, podId)?.phase, "running");
      await runtime.run({ kind: "stopPod", podId, graceSeconds });
      t.strictSame(await statesOf(), ["exited", "exited", "exited"]);
      await runtime.run({ kind: "startPod", podId });
      t.strictSame(await statesOf(), ["running", "running", "running"]);
      await subject.pauseContainer("h2");
      await runtime.run({ kind: "killPod", podId, signal: "SIGKILL" });
      await untilPod(runtime, podId, ({ containers }) => containers.every(({ state }) => state === "exited"));
    });
  }

  contractTest("reports all users of an image, and removes them with it by force", async (t, subject) => {
    const { runtime } = subject;
    const imageId = await subject.addImage("localhost/contract/used:1");
    t.strictSame(await runtime.imageUsers(imageId), []);
    t.strictSame(await runtime.imageUsers("0".repeat(64)), []);
    const podId = await subject.createPod(
      "mixed",
      { m1: { kind: "tick", everyMs: 500 } },
      "localhost/contract/used:1",
    );
    const alone = await subject.runOutsidePods("alone", "localhost/contract/used:1");
    const users = (await runtime.imageUsers(imageId)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    t.match(users, [
      { containerId: alone, name: "alone", podId: undefined, podUuid: undefined, isInfra: false },
      { name: "m1", podId, podUuid: uuidOf(podId), isInfra: false },
    ]);
    t.equal(users.length, 2);
    t.equal(await reasonOf(runtime.run({ kind: "removeImage", imageId, force: false })), "IMAGE_IN_USE");
    await runtime.run({ kind: "removeImage", imageId, force: true });
    t.strictSame(await runtime.imageUsers(imageId), []);
    const { containers } = await runtime.inspectPod(podId);
    t.strictSame(
      containers.map(({ isInfra }) => isInfra),
      [true],
      "the pod is left",
    );
    const [infra] = containers;
    t.match(await runtime.imageUsers(infra?.image.id ?? ""), [{ podId, isInfra: true }]);
    await runtime.run({ kind: "removeImage", imageId: infra?.image.id ?? "", force: true });
    t.equal(
      await reasonOf(runtime.inspectPod(podId)),
      "POD_NOT_FOUND",
      "its infra container uses the image, so the pod is removed",
    );
  });

  contractTest("returns its properties and findings", async (t, { runtime }) => {
    t.match(await runtime.info(), {
      name: /./,
      version: /^\d+\.\d+\.\d+/,
      storeDirectory: /^\//,
      configDirectory: /^\//,
    });
    const { version, findings } = await runtime.inspect();
    t.match(version, /^\d+\.\d+\.\d+/);
    t.strictSame(
      findings.filter(({ ok }) => !ok),
      [],
    );
  });
}

/** Returns the lines before the mark of the end of past output. */
async function earlierOf(runtime: PodRuntime, containerId: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const leaving = new AbortController();
  for await (const pieces of runtime.logs(containerId, { follow: true }, leaving.signal)) {
    if (pieces.length === 0) {
      break;
    }
    lines.push(...pieces.map(({ bytes }) => Buffer.from(bytes).toString()));
  }
  leaving.abort();
  return lines;
}

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

/** Returns a time after all events so far, even if the times of one millisecond are spread. */
function soonNs(): bigint {
  return nowNs() + 1_000_000_000n;
}

function isRecent(timeNs: bigint): boolean {
  const ageNs = nowNs() - timeNs;
  return ageNs > -1_000_000_000n && ageNs < 300_000_000_000n;
}

function uuidOf(id: string): RegExp {
  return new RegExp(`^${id.slice(0, 8)}-${id.slice(8, 12)}-`);
}

function podOf({ pods }: RuntimeState, id: string): RuntimePod | undefined {
  return pods.find((pod) => pod.id === id);
}

function podNamed({ pods }: RuntimeState, name: string): RuntimePod | undefined {
  return pods.find((pod) => pod.name === name);
}

/** Reads until the state meets the condition; failed reads are retried. */
export async function until(runtime: PodRuntime, isReached: (state: RuntimeState) => boolean) {
  let snapshot = await runtime.read().catch(() => undefined);
  await untilTrue(async () => {
    snapshot = await runtime.read().catch(() => undefined);
    return snapshot !== undefined && isReached(snapshot.value);
  });
  if (snapshot === undefined) {
    throw new Error("nothing was read");
  }
  return snapshot;
}

/** Reads until the pod exists and meets the condition. */
export async function untilPod(
  runtime: PodRuntime,
  id: string,
  isReached: (pod: RuntimePod) => boolean,
): Promise<RuntimePod> {
  const isThere = (state: RuntimeState) => {
    const pod = podOf(state, id);
    return pod !== undefined && isReached(pod);
  };
  const pod = podOf((await until(runtime, isThere)).value, id);
  if (pod === undefined) {
    throw new Error("the pod is gone");
  }
  return pod;
}

/** Returns the complete lines that a container printed. */
export async function linesOf(
  runtime: PodRuntime,
  containerId: string,
  options: LogOptions,
): Promise<string[]> {
  const lines: string[] = [];
  for await (const pieces of runtime.logs(containerId, options, new AbortController().signal)) {
    lines.push(...pieces.map(({ bytes }) => Buffer.from(bytes).toString()));
  }
  return lines;
}

/** Returns the first events after a place. */
async function firstOf(
  runtime: PodRuntime,
  after: Pick<RuntimeEvent, "key" | "timeNs">,
): Promise<readonly RuntimeEvent[]> {
  for await (const events of runtime.events({ after }, new AbortController().signal)) {
    return events;
  }
  return [];
}

export interface Listener {
  events(): readonly RuntimeEvent[];
  until(isReached: (events: readonly RuntimeEvent[]) => boolean): Promise<void>;
  /** Waits until new events are delivered. */
  untilListening(subject: Pick<ContractSubject, "createPod" | "removePod">): Promise<void>;
}

/** Collects events until the test ends. */
export function listen(t: Test, runtime: PodRuntime): Listener {
  const leaving = new AbortController();
  const events: RuntimeEvent[] = [];
  const listening = (async () => {
    for await (const batch of runtime.events({}, leaving.signal)) {
      events.push(...batch);
    }
  })();
  t.teardown(async () => {
    leaving.abort();
    await listening;
  });
  const untilEvents = (isReached: (events: readonly RuntimeEvent[]) => boolean) =>
    untilTrue(() => isReached(events));
  return {
    events: () => events,
    until: untilEvents,
    async untilListening(subject) {
      await runtime.read();
      // There is no API to query whether the stream is connected; an event shows it.
      await subject.createPod("probe", {});
      await untilEvents((reported) =>
        reported.some((event) => "podName" in event && event.podName === "probe"),
      );
      await subject.removePod("probe");
      await untilEvents((reported) => reported.some(({ kind }) => kind === "podRemoved"));
      events.length = 0;
    },
  };
}
