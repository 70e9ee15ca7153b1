import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "tap";
import type { RuntimeEvent } from "../../../../../adapters/podman/adapter.ts";
import type { Fact } from "../../../../../server/domains/pods/events/fact.ts";
import { foldEvents } from "../../../../../server/domains/pods/events/fold-events.ts";
import {
  jsonFromObservedPods,
  type ObservedPods,
  parseObservedPods,
} from "../../../../../server/domains/pods/events/observed-pods.ts";
import { anyEvents, contradictionsIn, eventAt, gapAt, nothing, wordsOf } from "./pod-event-samples.ts";

const infra = { pod: "web", container: "infra" };
const app = { pod: "web", container: "app" };
const web = { pod: "web" };

const started = [
  eventAt("containerCreated", 1, infra),
  eventAt("podCreated", 2, web),
  eventAt("containerCreated", 3, app),
  eventAt("containerStarted", 10, infra),
  eventAt("containerStarted", 20, app),
];
const startWords = ["pod.created web", "pod.started web", "container.started web/app"];

function factsOf(events: readonly RuntimeEvent[], before: ObservedPods = nothing) {
  const { observed, facts } = foldEvents(before, events);
  return { observed, words: wordsOf(facts), facts };
}

test("a pod's life is reported once, with its infra container's events as the pod's start and end", async (t) => {
  const { words, facts, observed } = factsOf([
    ...started,
    eventAt("containerExited", 3_000, app, 7),
    eventAt("containerExited", 3_040, infra, 0),
    eventAt("containerRemoved", 3_100, app),
    eventAt("containerRemoved", 3_110, infra),
    eventAt("podRemoved", 3_120, web),
  ]);
  t.strictSame(words, [...startWords, "container.exited web/app 7", "pod.exited web", "pod.removed web"]);
  const exited = facts.find(({ type }) => type === "pod.exited");
  t.equal(
    exited && "timeNs" in exited ? exited.timeNs : undefined,
    3_000_000_000n,
    "at the exit of its last app",
  );
  t.strictSame(observed.pods, []);
});

test("a restart within half a second is not an exit of the pod, a longer one is", async (t) => {
  const restart = (afterMs: number) => [
    ...started,
    eventAt("containerExited", 3_000, app, 1),
    eventAt("containerStarted", 3_000 + afterMs, app),
  ];
  const middle = "container.exited web/app 1";
  t.strictSame(factsOf(restart(500)).words, [...startWords, middle, "container.started web/app"]);
  t.strictSame(factsOf(restart(501)).words, [
    ...startWords,
    middle,
    "pod.exited web",
    "pod.started web",
    "container.started web/app",
  ]);
});

test("events of other pods show that the time is up", async (t) => {
  const before = [...started, eventAt("containerExited", 3_000, app, 1)];
  const elsewhere = (atMs: number) => [
    ...before,
    eventAt("containerCreated", atMs, { pod: "b", container: "x" }),
  ];
  t.notOk(factsOf(elsewhere(3_700)).words.includes("pod.exited web"));
  t.ok(factsOf(elsewhere(3_900)).words.includes("pod.exited web"));
});

test("an exit that is recorded before its start is reported after it", async (t) => {
  const short = factsOf([
    ...started.slice(0, 4),
    eventAt("containerExited", 25, app, 3),
    eventAt("containerStarted", 20, app),
  ]);
  t.strictSame(short.words, [...startWords, "container.exited web/app 3"]);
  const restart = factsOf([
    ...started,
    eventAt("containerStarted", 60, app),
    eventAt("containerExited", 50, app, 4),
  ]);
  t.strictSame(restart.words, [...startWords, "container.exited web/app 4", "container.started web/app"]);
});

test("repeated events, and events of removed resources, report nothing", async (t) => {
  t.strictSame(
    factsOf([...started, eventAt("containerStarted", 21, app), eventAt("podCreated", 22, web)]).words,
    startWords,
  );
  const gone = [
    ...started,
    eventAt("podRemoved", 30, web),
    eventAt("containerExited", 31, app),
    eventAt("podRemoved", 32, web),
  ];
  t.strictSame(factsOf(gone).words, [
    ...startWords,
    "container.exited web/app (reconciled)",
    "pod.exited web (reconciled)",
    "pod.removed web",
  ]);
});

test("after a gap, what must have been missed is reported along with the event that reveals it", async (t) => {
  const { observed } = factsOf(started);
  const later = factsOf([gapAt(5_000, 100), eventAt("containerStarted", 6_000, app)], observed);
  t.strictSame(later.words, ["container.exited web/app (reconciled)", "container.started web/app"]);
  t.strictSame(later.observed.comparing?.gap?.sinceNs, 100_000_000n);
  const other = factsOf([gapAt(5_000, 100), eventAt("podRemoved", 6_000, { pod: "b" })], observed);
  t.strictSame(other.words, ["pod.created b (reconciled)", "pod.removed b"]);
});

test("a renamed container is reported under its new name from then on", async (t) => {
  const { words, observed } = factsOf([
    ...started,
    { ...eventAt("containerExited", 3_000, app, 7), containerName: "renamed" } as RuntimeEvent,
    { ...eventAt("containerStarted", 3_100, app), containerName: "" } as RuntimeEvent,
  ]);
  t.strictSame(words, [...startWords, "container.exited web/renamed 7", "container.started web/renamed"]);
  t.match(observed.pods[0]?.containers.map(({ name }) => name).toSorted(), ["infra", "renamed"]);
});

test("nothing is left of a pod whose creation failed, whether in one batch or in two", async (t) => {
  const failed = [eventAt("containerCreated", 10, app), eventAt("containerRemoved", 10, app)];
  const late = eventAt("containerExited", 10, { pod: "web", container: "infra" }, 0);
  const { observed } = factsOf(failed);
  t.strictSame(observed.pods, []);
  t.strictSame(factsOf([...failed, late]).observed.pods, factsOf([late], observed).observed.pods);
});

test("images are reported once, under their last names", async (t) => {
  const image = (kind: "imageAdded" | "imageRemoved", atMs: number, imageNames: readonly string[]) => ({
    kind,
    timeNs: BigInt(atMs),
    key: `${atMs}`,
    imageId: "i",
    imageNames,
  });
  const { facts, observed } = factsOf([
    image("imageAdded", 1, ["a:1"]),
    image("imageAdded", 2, ["a:1", "b:1"]),
    image("imageRemoved", 3, []),
    image("imageRemoved", 4, []),
  ]);
  t.strictSame(wordsOf(facts), ["image.added i", "image.removed i"]);
  t.match(facts[1], { names: ["a:1", "b:1"] });
  t.equal(observed.last, null, "the runtime's record does not contain them later");
});

test("any events, in any batches and across restarts, give the same facts without contradictions", async () => {
  fc.assert(
    fc.property(anyEvents, fc.array(fc.nat(60), { maxLength: 6 }), (events, cuts) => {
      const whole = foldEvents(nothing, events);
      assert.deepEqual(contradictionsIn(whole.facts), []);
      const places = [
        0,
        ...cuts.filter((place) => place < events.length).sort((a, b) => a - b),
        events.length,
      ];
      let observed = nothing;
      const facts: Fact[] = [];
      for (const [index, from] of places.entries()) {
        const reported = foldEvents(observed, events.slice(from, places[index + 1] ?? from));
        facts.push(...reported.facts);
        observed =
          parseObservedPods(JSON.parse(JSON.stringify(jsonFromObservedPods(reported.observed)))) ?? nothing;
      }
      assert.deepEqual(facts, whole.facts);
      assert.deepEqual(observed, whole.observed);
    }),
    { numRuns: 500 },
  );
});

test("a state stored in another format is ignored", async (t) => {
  t.equal(parseObservedPods(undefined), undefined);
  t.equal(parseObservedPods({ pods: [{}] }), undefined);
});
