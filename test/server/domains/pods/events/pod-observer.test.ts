import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../../../adapters/podman/reasons.ts";
import { podSource } from "../../../../../server/domains/pods/events/pod-observer.ts";
import { storeReasons } from "../../../../../server/store/reasons.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { createPod, image, startPodEvents, wordOf } from "./pod-events-under-test.ts";

const isWord = (word: string) => (event: Parameters<typeof wordOf>[0]) => wordOf(event) === word;

test("changes are reported with names, times and exit codes", async (t) => {
  const lab = await startPodEvents(t);
  const { runtime, events } = lab;
  await lab.observe();
  const [first] = await lab.eventsUntil(0, () => true);
  t.match(first, { type: "gap", resource: "pods", host: "alpha", detail: { value: { from: undefined } } });
  const from = await events.currentSeq();
  const { id, appId } = createPod(runtime, "web");
  runtime.pods.startPod(id);
  runtime.pods.endPod(id, 3);
  runtime.pods.removePod(id, false);
  const reported = await lab.eventsUntil(from, isWord("pod.removed web"));
  t.strictSame(reported.map(wordOf), [
    "pod.created web",
    "pod.started web",
    "container.started web/app",
    "container.exited web/app 3",
    "pod.exited web",
    "pod.removed web",
  ]);
  const uuid = (await runtime.history({ sinceNs: 0n, untilNs: runtime.pods.nowNs() })).flatMap((event) =>
    "podUuid" in event ? [event.podUuid] : [],
  )[0];
  const exited = reported[3];
  t.match(exited, {
    topic: "pods",
    host: "alpha",
    operationId: "",
    sandbox: true,
    resource: `pods/${uuid}/containers/app`,
    detail: { case: "pod", value: { id: uuid, containerId: appId, exitCode: 3, reconciled: false } },
  });
  const value = exited?.detail.case === "pod" ? exited.detail.value : undefined;
  t.ok(Math.abs(Number(value?.happenedAt?.seconds ?? 0n) - Date.now() / 1_000) < 20);
  t.equal(reported[0]?.resource, `pods/${uuid}`);
});

test("a restart is not an exit of the pod; the exit of its last app is, if no app follows", async (t) => {
  const lab = await startPodEvents(t);
  await lab.observe();
  const { id, appId } = createPod(lab.runtime, "job");
  const from = await lab.events.currentSeq();
  lab.runtime.pods.startPod(id);
  lab.runtime.pods.endContainer(appId, 1);
  lab.runtime.pods.startContainer(appId);
  lab.runtime.pods.endContainer(appId, 2);
  const endedMs = performance.now();
  const reported = await lab.eventsUntil(from, isWord("pod.exited job"));
  t.ok(performance.now() - endedMs < 20_000, `${performance.now() - endedMs} ms`);
  t.strictSame(reported.map(wordOf).slice(-5), [
    "container.started job/app",
    "container.exited job/app 1",
    "container.started job/app",
    "container.exited job/app 2",
    "pod.exited job",
  ]);
  const [container, pod] = reported
    .slice(-2)
    .map(({ detail }) => (detail.case === "pod" ? detail.value : undefined));
  t.strictSame(pod?.happenedAt, container?.happenedAt, "at the exit of its last app");
});

test("an event that arrives later than the state behind it is reported once", async (t) => {
  const lab = await startPodEvents(t);
  const { runtime } = lab;
  const late = {
    ...runtime,
    // Simulates a runtime that was unavailable, so that its log is read after its state is known.
    async *events(...args: Parameters<typeof runtime.events>) {
      for await (const batch of runtime.events(...args)) {
        await new Promise((resolve) => setTimeout(resolve, batch.length === 0 ? 0 : 400));
        yield batch;
      }
    },
  };
  await lab.observe({ runtime: late, confirmMs: 60 });
  const { id, appId } = createPod(runtime, "web");
  runtime.pods.startPod(id);
  await lab.eventsUntil(0, isWord("container.started web/app"));
  const from = await lab.events.currentSeq();
  runtime.pods.endContainer(appId, 137);
  runtime.pods.startContainer(appId);
  await lab.eventsUntil(from, isWord("container.started web/app"));
  await new Promise((resolve) => setTimeout(resolve, 300));
  createPod(runtime, "end");
  const reported = await lab.eventsUntil(from, isWord("pod.created end"));
  t.strictSame(reported.map(wordOf), [
    "container.exited web/app 137",
    "container.started web/app",
    "pod.created end",
  ]);
});

test("a later observer continues where the last one ended", async (t) => {
  const lab = await startPodEvents(t);
  const first = await lab.observe();
  const { id, appId } = createPod(lab.runtime, "web");
  await lab.eventsUntil(0, isWord("pod.created web"));
  const from = await lab.events.currentSeq();
  await first.close();
  lab.runtime.pods.startPod(id);
  lab.runtime.pods.endContainer(appId, 9);
  lab.runtime.pods.startContainer(appId);
  const imageId = lab.runtime.pods.addImage("localhost/test/later:1");
  const second = await lab.observe();
  const reported = await lab.eventsUntil(from, isWord("image.added localhost/test/later:1 (reconciled)"));
  t.strictSame(reported.map(wordOf), [
    "pod.started web",
    "container.started web/app",
    "container.exited web/app 9",
    "container.started web/app",
    "image.added localhost/test/later:1 (reconciled)",
  ]);
  t.ok((second.importTimes.importedAtNs(imageId) ?? 0n) > 0n);
  t.equal(second.importTimes.importedAtNs(imageIdOf(lab.runtime.pods.state().images, image)), undefined);
  await second.close();
  const third = await lab.observe();
  t.ok((third.importTimes.importedAtNs(imageId) ?? 0n) > 0n, "it is stored");
});

const imageIdOf = (
  images: readonly { readonly id: string; readonly names: readonly string[] }[],
  name: string,
) => images.find(({ names }) => names.includes(name))?.id ?? "";

test("an exit that waits for a possible restart is reported by a later observer", async (t) => {
  const lab = await startPodEvents(t);
  const first = await lab.observe();
  const { id, appId } = createPod(lab.runtime, "job");
  lab.runtime.pods.startPod(id);
  lab.runtime.pods.endContainer(appId, 1);
  await lab.eventsUntil(0, isWord("container.exited job/app 1"));
  await first.close();
  const from = await lab.events.currentSeq();
  await lab.observe();
  t.strictSame((await lab.eventsUntil(from, () => true)).map(wordOf), ["pod.exited job"]);
});

test("without a record, differences are reported, and then a gap", async (t) => {
  const lab = await startPodEvents(t);
  const first = await lab.observe();
  const stopped = createPod(lab.runtime, "stopped");
  const gone = createPod(lab.runtime, "gone");
  const restarted = createPod(lab.runtime, "restarted");
  for (const { id } of [stopped, gone, restarted]) {
    lab.runtime.pods.startPod(id);
  }
  await lab.eventsUntil(0, isWord("container.started restarted/app"));
  await first.close();
  const from = await lab.events.currentSeq();
  lab.runtime.pods.endPod(stopped.id, 4);
  lab.runtime.pods.removePod(gone.id, true);
  lab.runtime.pods.endContainer(restarted.appId, 5);
  lab.runtime.pods.startContainer(restarted.appId);
  lab.runtime.pods.startPod(createPod(lab.runtime, "fresh").id);
  lab.runtime.forgetHistory();
  await lab.observe();
  const reported = await lab.eventsUntil(from, ({ type }) => type === "gap");
  const words = reported.map(wordOf);
  const of = (name: string) => words.filter((word) => word.includes(name)).map((word) => word.split(" ")[0]);
  t.strictSame(of("stopped"), ["container.exited", "pod.exited"]);
  t.ok(words.includes("container.exited stopped/app 4 (reconciled)"));
  t.strictSame(of("gone"), ["container.exited", "pod.exited", "pod.removed"]);
  t.strictSame(of("restarted"), ["container.exited", "container.started"]);
  t.strictSame(of("fresh"), ["pod.created", "pod.started", "container.started"]);
  t.ok(words.slice(0, -1).every((word) => word.endsWith("(reconciled)")));
  const gap = reported.at(-1)?.detail;
  t.ok(gap?.case === "gap" && gap.value.from !== undefined && gap.value.reason !== "");
});

test("while the runtime is unavailable nothing is reported, and afterwards everything", async (t) => {
  const failures: unknown[] = [];
  const lab = await startPodEvents(t);
  await lab.observe({ onFailed: (error) => failures.push(error), confirmMs: 20 });
  const { id, appId } = createPod(lab.runtime, "web");
  await lab.eventsUntil(0, isWord("pod.created web"));
  const from = await lab.events.currentSeq();
  lab.runtime.setOutage(new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "it is switched off"));
  lab.runtime.pods.startPod(id);
  lab.runtime.pods.endContainer(appId, 1);
  while (failures.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  lab.runtime.setOutage(undefined);
  const reported = await lab.eventsUntil(from, isWord("pod.exited web"));
  t.strictSame(reported.map(wordOf), [
    "pod.started web",
    "container.started web/app",
    "container.exited web/app 1",
    "pod.exited web",
  ]);
  t.equal(failures.length, 1, "reported once");
});

test("while the store is unavailable events wait", async (t) => {
  const lab = await startPodEvents(t);
  const failures: unknown[] = [];
  let isAway = false;
  const run: Store["run"] = (name, args) =>
    isAway
      ? Promise.reject(new InfraError(storeReasons.STORE_UNAVAILABLE, "it is away"))
      : lab.store.run(name, args);
  await lab.observe({ store: { run }, onFailed: (error) => failures.push(error) });
  const from = await lab.events.currentSeq();
  isAway = true;
  const { id } = createPod(lab.runtime, "web");
  while (failures.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  lab.runtime.pods.startPod(id);
  isAway = false;
  const reported = await lab.eventsUntil(from, isWord("container.started web/app"));
  t.strictSame(reported.map(wordOf), ["pod.created web", "pod.started web", "container.started web/app"]);
  t.equal(failures.length, 1);
});

test("without any records, a start reports no gap", async (t) => {
  const lab = await startPodEvents(t);
  const first = await lab.observe();
  await lab.eventsUntil(0, ({ type }) => type === "gap");
  const from = await lab.events.currentSeq();
  await first.close();
  await lab.observe();
  createPod(lab.runtime, "web");
  t.strictSame((await lab.eventsUntil(from, () => true)).map(wordOf), ["pod.created web"]);
});

test("changes by an operation are reported with its id", async (t) => {
  const lab = await startPodEvents(t);
  await lab.observe();
  const { id } = createPod(lab.runtime, "web");
  const { uuid } = await lab.runtime.inspectPod(id);
  const from = await lab.events.currentSeq();
  await lab.own.during({ resources: [`pods/${uuid}`], operationId: "op-1" }, () =>
    lab.runtime.run({ kind: "startPod", podId: id }),
  );
  const reported = await lab.eventsUntil(from, isWord("container.started web/app"));
  t.ok(reported.slice(-2).every(({ operationId }) => operationId === "op-1"));
});

test("the sandbox's pods are not mistaken for real ones", async (t) => {
  t.equal(podSource({ kind: "real" }, "alpha"), "podman/alpha");
  t.equal(podSource({ kind: "sandbox" }, "alpha"), "sandbox-podman/alpha");
});
