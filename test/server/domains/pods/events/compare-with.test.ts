import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "tap";
import type {
  ContainerState,
  PodContainer,
  RuntimePod,
  RuntimeState,
} from "../../../../../adapters/podman/runtime-state.ts";
import { compareWith, firstObserved } from "../../../../../server/domains/pods/events/compare-with.ts";
import { foldEvents, passTime } from "../../../../../server/domains/pods/events/fold-events.ts";
import { type ObservedPods, withComparing } from "../../../../../server/domains/pods/events/observed-pods.ts";
import { anyEvents, contradictionsIn, eventAt, nothing, wordsOf } from "./pod-event-samples.ts";

const ms = 1_000_000n;
const nowNs = 100_000n * ms;
const none: ReadonlySet<string> = new Set();

interface ContainerSketch {
  readonly name: string;
  readonly state: ContainerState;
  readonly startedAtMs?: number;
  readonly exitedAtMs?: number;
  readonly exitCode?: number;
}

function containerOf(pod: string, sketch: ContainerSketch): PodContainer {
  const { name, state, startedAtMs, exitedAtMs, exitCode } = sketch;
  return {
    id: `id-${pod}-${name}`,
    name,
    isInfra: name.endsWith("infra"),
    state,
    image: { id: "i", name: "i:1" },
    exitCode,
    pid: undefined,
    createdAtNs: ms,
    startedAtNs: startedAtMs === undefined ? undefined : BigInt(startedAtMs) * ms,
    exitedAtNs: exitedAtMs === undefined ? undefined : BigInt(exitedAtMs) * ms,
    annotations: new Map(),
  };
}

function podOf(name: string, containers: readonly ContainerSketch[]): RuntimePod {
  return {
    id: `id-${name}`,
    uuid: `uuid-${name}`,
    name,
    phase: "unknown",
    createdAtNs: ms,
    startedAtNs: undefined,
    labels: new Map(),
    cgroup: undefined,
    networks: [],
    containers: containers.map((each) => containerOf(name, each)),
    document: "{}",
  };
}

const stateOf = (pods: readonly RuntimePod[]): RuntimeState => ({ pods, unreadable: [], images: [] });

const running = (name: string, startedAtMs: number): ContainerSketch => ({
  name,
  state: "running",
  startedAtMs,
});
const exited = (name: string, startedAtMs: number, exitedAtMs: number, exitCode = 0): ContainerSketch => ({
  name,
  state: "exited",
  startedAtMs,
  exitedAtMs,
  exitCode,
});

const compare = (before: ObservedPods, pods: readonly RuntimePod[]) =>
  compareWith(withComparing(before), stateOf(pods), none, nowNs);

test("the initial state is recorded, and an unchanged state reports nothing later", async (t) => {
  const pods = [
    podOf("web", [running("infra", 10), running("app", 20), exited("job", 20, 30, 1)]),
    podOf("new", []),
  ];
  const known = firstObserved(stateOf(pods), null, nowNs);
  t.match(known.pods, [
    { name: "new", isStarted: false },
    { name: "web", isStarted: true },
  ]);
  t.strictSame(compare(known, pods).facts, []);
});

test("a pod whose apps had all exited before is not reported as exited", async (t) => {
  const known = firstObserved(
    stateOf([podOf("job", [running("infra", 10), exited("app", 20, 30, 1)])]),
    null,
    nowNs,
  );
  t.match(known.pods, [{ isStarted: false, pendingExitNs: null }]);
});

test("an exit, a start and a restart that were not observed are reported with the runtime's times", async (t) => {
  const before = [
    podOf("web", [running("infra", 10), running("one", 20), running("two", 20), exited("three", 20, 30)]),
  ];
  const after = [
    podOf("web", [
      running("infra", 10),
      running("one", 50),
      exited("two", 20, 60, 137),
      exited("three", 70, 80, 5),
    ]),
  ];
  const { facts, observed } = compare(firstObserved(stateOf(before), null, nowNs), after);
  t.strictSame(wordsOf(facts), [
    "container.exited web/one (reconciled)",
    "container.started web/one (reconciled)",
    "container.exited web/two 137 (reconciled)",
    "container.started web/three (reconciled)",
    "container.exited web/three 5 (reconciled)",
  ]);
  t.strictSame(
    facts.map((fact) => ("timeNs" in fact ? Number(fact.timeNs / ms) : 0)),
    [50, 50, 60, 70, 80],
  );
  t.strictSame(compare(observed, after).facts, [], "only once");
});

test("a restart that was not observed is reported even if the clock was set back before it", async (t) => {
  const before = [podOf("web", [running("infra", 90_000), running("app", 90_000)])];
  const known = firstObserved(stateOf(before), null, nowNs);
  const recorded = foldEvents(known, [
    eventAt("containerExited", 95_000, { pod: "web", container: "app" }, 1),
    eventAt("containerStarted", 96_000, { pod: "web", container: "app" }),
  ]).observed;
  const noted = [podOf("web", [running("infra", 90_000), running("app", 95_900)])];
  t.strictSame(compare(recorded, noted).facts, [], "the start time is set before the start is recorded");
  const after = [podOf("web", [running("infra", 90_000), running("app", 40_000)])];
  const { facts, observed } = compare(recorded, after);
  t.strictSame(wordsOf(facts), [
    "container.exited web/app (reconciled)",
    "container.started web/app (reconciled)",
  ]);
  t.strictSame(compare(observed, after).facts, [], "only once");
});

test("a removed pod and a new one are reported with everything that must have happened to them", async (t) => {
  const known = firstObserved(
    stateOf([podOf("old", [running("infra", 10), running("app", 20)])]),
    null,
    nowNs,
  );
  const { facts } = compare(known, [podOf("new", [running("infra", 50), exited("app", 60, 70, 2)])]);
  t.strictSame(wordsOf(facts), [
    "container.exited old/app (reconciled)",
    "pod.exited old (reconciled)",
    "pod.removed old (reconciled)",
    "pod.created new (reconciled)",
    "pod.started new (reconciled)",
    "container.started new/app (reconciled)",
    "container.exited new/app 2 (reconciled)",
  ]);
});

test("what is covered by events, past or pending, is not compared, nor what cannot be read", async (t) => {
  const known = firstObserved(
    stateOf([podOf("web", [running("infra", 10), running("app", 20)])]),
    null,
    nowNs,
  );
  const after = stateOf([podOf("web", [running("infra", 10), exited("app", 20, 30)]), podOf("b", [])]);
  const onTheirWay = new Set(["id-web-app", "id-b"]);
  t.strictSame(compareWith(withComparing(known), after, onTheirWay, nowNs).facts, []);
  const { observed } = foldEvents(withComparing(known), [
    eventAt("podCreated", 50_000, { pod: "b" }),
    eventAt("podRemoved", 50_001, { pod: "b" }),
    eventAt("containerExited", 50_002, { pod: "web", container: "app" }, 1),
  ]);
  t.strictSame(compareWith(observed, after, none, nowNs).facts, []);
  const broken: RuntimeState = {
    pods: [],
    unreadable: [{ podId: "id-web", podUuid: "uuid-web", why: "it is broken" }],
    images: [],
  };
  t.strictSame(compareWith(withComparing(known), broken, none, nowNs).facts, []);
});

const anyContainers = fc.uniqueArray(
  fc
    .record({
      name: fc.constantFrom("infra", "one", "two"),
      state: fc.constantFrom<ContainerState>("created", "running", "paused", "exited"),
      startedAtMs: fc.integer({ min: 9_000, max: 40_000 }),
      lastedMs: fc.integer({ min: 0, max: 9_000 }),
    })
    .map(({ name, state, startedAtMs, lastedMs }): ContainerSketch => {
      switch (state) {
        case "created":
          return { name, state };
        case "exited":
          return { name, state, startedAtMs, exitedAtMs: startedAtMs + lastedMs, exitCode: 1 };
        default:
          return { name, state, startedAtMs };
      }
    }),
  { selector: ({ name }) => name },
);

const anyState = fc
  .uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c"), anyContainers), { selector: ([name]) => name })
  .map((pods) => stateOf(pods.map(([name, containers]) => podOf(name, containers))));

test("whatever was reported, comparing leads to the actual state, in alternating steps, and only once", async () => {
  fc.assert(
    fc.property(anyEvents, anyState, (events, state) => {
      const reported = foldEvents(nothing, events);
      const compared = compareWith(withComparing(reported.observed), state, none, nowNs);
      const all = new Set(state.pods.map(({ id }) => id));
      const later = passTime(compared.observed, nowNs, all);
      assert.deepEqual(contradictionsIn([...reported.facts, ...compared.facts, ...later.facts]), []);
      const up = (
        pods: readonly { readonly containers: readonly { id: string }[] }[],
        isUp: (id: string) => boolean,
      ) => pods.flatMap(({ containers }) => containers.map(({ id }) => id).filter(isUp)).sort();
      const known = new Map(
        later.observed.pods.flatMap(({ containers }) => containers).map((each) => [each.id, each]),
      );
      const actual = new Map(
        state.pods.flatMap(({ containers }) => containers).map((each) => [each.id, each]),
      );
      assert.deepEqual(
        up(later.observed.pods, (id) => known.get(id)?.isRunning === true),
        up(state.pods, (id) => /running|paused/.test(actual.get(id)?.state ?? "")),
      );
      assert.deepEqual(
        later.observed.pods.map(({ id }) => id),
        [...all].sort(),
      );
      assert.deepEqual(compareWith(withComparing(later.observed), state, none, nowNs).facts, []);
    }),
    { numRuns: 500 },
  );
});
