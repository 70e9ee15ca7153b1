import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type Test, test } from "tap";
import {
  createHistory,
  type History,
  type HistoryOptions,
  type Sample,
} from "../../../server/history/history.ts";
import type { SampledFigure, SampledResource } from "../../../server/history/sampled-resource.ts";

const stepMs = 60_000;
const day = 1440;
/** A tick now, so that files of the tests are current. */
const now = Math.floor(Date.now() / stepMs);

function createUnderTest(t: Test, options: Partial<HistoryOptions> = {}): History {
  return createHistory({ stepMs, maxBytes: 8 << 20, onFailed: (what) => t.fail(what), ...options });
}

/** Takes a turn at a tick. */
function turn(history: History, tick: number, ...samples: (readonly [number, Sample])[]): void {
  const begun = history.beginTurn(tick * stepMs);
  if (begun !== undefined) {
    for (const _ of history.record(begun, new Map(samples))) {
      // Without other work in between.
    }
  }
}

const bytes = (name: string, value: number): SampledFigure => ({ name, value, unit: "bytes" });

function resource(name: string, figures: readonly SampledFigure[], state = "active"): SampledResource {
  return { name, state, health: state === "failed" ? "failed" : "ok", figures };
}

const everything = () => true;

/** The known values of a figure, as ranges of ticks. */
function valuesOf(history: History, subject: string, figure: string, from: number, to: number) {
  const found = history.read(subject, everything)?.figures.find(({ name }) => name === figure);
  return [...(found?.spans(from, to) ?? [])].map((span) => [span.from, span.to, span.value]);
}

function statesOf(history: History, subject: string, from: number, to: number) {
  return [...(history.read(subject, everything)?.states(from, to) ?? [])].map((span) => [
    span.from,
    span.to,
    span.state,
    span.health,
  ]);
}

test("figures and states have the values of their samples", async (t) => {
  const history = createUnderTest(t);
  const source = history.addSource("volumes");
  turn(history, 100, [source, { resources: [resource("v1", [bytes("size", 1)])] }]);
  turn(history, 101, [source, { resources: [resource("v1", [bytes("size", 1)])] }]);
  turn(history, 102, [source, { resources: [resource("v1", [bytes("size", 5)], "failed")] }]);
  turn(history, 103, [source, { resources: [resource("v1", [bytes("size", 5), bytes("used", 2)])] }]);
  t.same(valuesOf(history, "v1", "size", 0, 200), [
    [100, 102, 1],
    [102, 104, 5],
  ]);
  t.same(valuesOf(history, "v1", "used", 0, 200), [[103, 104, 2]], "a figure may come later");
  t.same(statesOf(history, "v1", 0, 200), [
    [100, 102, "active", "ok"],
    [102, 103, "failed", "failed"],
    [103, 104, "active", "ok"],
  ]);
  turn(history, 104, [source, { resources: [resource("v1", [bytes("used", 2)])] }]);
  t.same(valuesOf(history, "v1", "size", 103, 200), [[103, 104, 5]], "a figure that is missing is unknown");
  t.equal(
    history.read("v1", (each) => each !== source),
    undefined,
    "a source that a caller may not see",
  );
});

test("what happens while a system is away is unknown, also for what does not change", async (t) => {
  const history = createUnderTest(t);
  const [resources, systems] = [history.addSource("volumes"), history.addSource("classes")];
  const volumes = { resources: [resource("v1", [bytes("size", 1)])] };
  const classes = { systems: [{ name: "ssd", figures: [bytes("free", 7)] }] };
  turn(history, 10, [resources, volumes], [systems, classes]);
  turn(history, 11, [resources, undefined], [systems, undefined]);
  turn(history, 12, [resources, volumes], [systems, classes]);
  turn(history, 15, [resources, volumes], [systems, classes]);
  const known = [
    [10, 11],
    [12, 13],
    [15, 16],
  ];
  t.same(
    valuesOf(history, "v1", "size", 0, 99),
    known.map((span) => [...span, 1]),
  );
  t.same(
    statesOf(history, "v1", 0, 99),
    known.map((span) => [...span, "active", "ok"]),
  );
  t.same(
    valuesOf(history, "ssd", "free", 0, 99),
    known.map((span) => [...span, 7]),
    "no value is 0",
  );
});

test("a removed resource has no values, until one of its name exists again", async (t) => {
  const history = createUnderTest(t);
  const source = history.addSource("volumes");
  const other = resource("v2", [bytes("size", 9)]);
  turn(history, 1, [source, { resources: [resource("v1", [bytes("size", 1)]), other] }]);
  turn(history, 2, [source, { resources: [other] }]);
  turn(history, 3, [source, { resources: [resource("v1", [bytes("size", 1)]), other] }]);
  t.same(valuesOf(history, "v1", "size", 0, 99), [
    [1, 2, 1],
    [3, 4, 1],
  ]);
  t.same(valuesOf(history, "v2", "size", 0, 99), [[1, 4, 9]]);
});

test("a system that is a resource too has the figures and states of both", async (t) => {
  const history = createUnderTest(t);
  const [resources, systems] = [history.addSource("resources"), history.addSource("systems")];
  for (const tick of [5, 6]) {
    turn(
      history,
      tick,
      [resources, { resources: [resource("ceph", [bytes("used", 1), bytes("quota", 8)])] }],
      [systems, { systems: [{ name: "ceph", figures: [bytes("used", tick)] }] }],
    );
  }
  t.same(valuesOf(history, "ceph", "used", 0, 9), [
    [5, 6, 5],
    [6, 7, 6],
  ]);
  t.same(valuesOf(history, "ceph", "quota", 0, 9), [[5, 7, 8]]);
  t.same(statesOf(history, "ceph", 0, 9), [[5, 7, "active", "ok"]]);
  t.same(history.systems(), [{ name: "ceph", source: systems }]);
  const part = history.read("ceph", (source) => source === systems);
  t.same(
    part?.figures.map(({ name }) => name),
    ["used"],
    "a caller sees the part of its services",
  );
  t.same([...(part?.states(0, 9) ?? [])], []);
});

test("a clock that is set back begins the history again", async (t) => {
  const history = createUnderTest(t);
  const source = history.addSource("volumes");
  const volumes = { resources: [resource("v1", [bytes("size", 1)])] };
  turn(history, 50, [source, volumes]);
  turn(history, 50, [source, undefined]);
  turn(history, 40, [source, volumes]);
  t.same(valuesOf(history, "v1", "size", 0, 99), [[40, 41, 1]]);
  t.same([history.firstTick(), history.lastTick()], [40, 40]);
});

/** A turn: whether the source answers, and the value of each of three resources; undefined: it does not exist. */
const turns = fc.array(
  fc.tuple(
    fc.boolean(),
    fc.tuple(...[0, 1, 2].map(() => fc.option(fc.nat(2), { nil: undefined }))),
    fc.integer({ min: 1, max: 3 }),
  ),
  { maxLength: 40 },
);

test("any sequence of turns gives the values of a table", async (t) => {
  fc.assert(
    fc.property(turns, (all) => {
      const history = createUnderTest(t);
      const source = history.addSource("volumes");
      const table = [0, 1, 2].map((): (readonly [number, number])[] => []);
      let tick = 10;
      for (const [isUp, values, later] of all) {
        tick += later;
        const resources = values.flatMap((value, index) =>
          value === undefined ? [] : [resource(`v${index}`, [bytes("size", value)])],
        );
        turn(history, tick, [source, isUp ? { resources } : undefined]);
        for (const [index, value] of values.entries()) {
          if (isUp && value !== undefined) {
            table[index]?.push([tick, value]);
          }
        }
      }
      for (const [index, expected] of table.entries()) {
        const known = valuesOf(history, `v${index}`, "size", 0, tick + 10).flatMap(
          ([from = 0, to = 0, value]) => Array.from({ length: to - from }, (_, at) => [from + at, value]),
        );
        t.strictSame(known, expected);
      }
    }),
  );
});

test("a storm of resources does not exceed the limit, and the rings stay", async (t) => {
  const maxBytes = 1 << 20;
  const history = createUnderTest(t, { maxBytes });
  const [resources, systems] = [history.addSource("resources"), history.addSource("systems")];
  const steady = resource("steady", [bytes("size", 1)]);
  let largest = 0;
  for (let tick = 0; tick < 60; tick++) {
    const storm = Array.from({ length: 1_000 }, (_, index) =>
      resource(`storm/${tick % 10}/${index}`, [bytes("size", tick * index), bytes("used", tick + index)]),
    );
    turn(
      history,
      tick,
      [resources, { resources: [...storm, { ...steady, figures: [bytes("size", tick)] }] }],
      [systems, { systems: [{ name: "ssd", figures: [bytes("free", tick)] }] }],
    );
    largest = Math.max(largest, history.bytes());
  }
  t.ok(largest <= maxBytes, `${largest} bytes`);
  t.ok(largest > maxBytes / 2, "the limit was reached");
  t.equal(valuesOf(history, "ssd", "free", 0, 60).length, 60, "every value of the system");
  const recent = valuesOf(history, "steady", "size", 0, 60);
  t.same(recent.at(-1), [59, 60, 59]);
  t.ok(recent.length < 60, "the oldest changes are gone");
  t.ok(history.seriesCount() > 0);
});

test("if resources do not fit, new ones replace the least recently changed ones", async (t) => {
  const history = createUnderTest(t, { maxBytes: 1 << 20 });
  const source = history.addSource("resources");
  const all = Array.from({ length: 6_000 }, (_, index) => resource(`r${index}`, [bytes("size", index)]));
  for (let tick = 0; tick < 3; tick++) {
    turn(history, tick, [source, { resources: [...all] }]);
    t.ok(history.bytes() <= 1 << 20);
  }
  const held = () => all.filter(({ name }) => history.read(name, everything) !== undefined);
  t.ok(held().length > 1_000 && held().length < 6_000, `${held().length} fit`);
  const known = held()[0] as SampledResource;
  turn(history, 3, [source, { resources: [resource(known.name, [bytes("size", -1)]), ...all.slice(-500)] }]);
  turn(history, 4, [
    source,
    { resources: all.slice(0, 500).map((each) => ({ ...each, name: `new${each.name}` })) },
  ]);
  t.ok(history.read("newr0", everything), "new ones are admitted");
  t.ok(history.read(known.name, everything), "what changed last is kept");
  t.ok(history.bytes() <= 1 << 20);
});

test("what is older than a day is dropped", async (t) => {
  const history = createUnderTest(t);
  const [source, systems] = [history.addSource("resources"), history.addSource("systems")];
  turn(
    history,
    0,
    [source, { resources: [resource("gone", [bytes("size", 1)])] }],
    [systems, { systems: [{ name: "old", figures: [bytes("free", 1)] }] }],
  );
  for (let tick = 1; tick < day + 500; tick++) {
    const busy = Array.from({ length: 10 }, (_, index) => resource(`busy${index}`, [bytes("size", tick)]));
    turn(history, tick, [source, { resources: busy }], [systems, { systems: [] }]);
  }
  t.equal(history.read("gone", everything), undefined);
  t.equal(history.read("old", everything), undefined);
  const [first] = valuesOf(history, "busy0", "size", 0, 10_000);
  t.ok((first?.[0] ?? 0) > 0, "changes are dropped in blocks");
});

async function fileUnderTest(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-history-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return join(directory, "history");
}

test("a saved history continues after a restart; the time in between is unknown", async (t) => {
  const file = await fileUnderTest(t);
  const before = createUnderTest(t, { file });
  await before.load();
  const samplesAt = (tick: number) => ({
    resources: Array.from({ length: 1_200 }, (_, index) =>
      resource(`v${index}`, [bytes("size", index % (tick % 7 || 1))]),
    ),
  });
  const classes = (tick: number) => ({ systems: [{ name: "ssd", figures: [bytes("free", tick)] }] });
  const old = before.addSource("removed");
  const [volumes, systems] = [before.addSource("volumes"), before.addSource("classes")];
  for (let tick = now - 30; tick < now - 9; tick++) {
    const gone = { resources: [resource("gone", [])] };
    turn(before, tick, [old, gone], [volumes, samplesAt(tick)], [systems, classes(tick)]);
  }
  await before.save();

  const after = createUnderTest(t, { file });
  const [systemsAfter, volumesAfter] = [after.addSource("classes"), after.addSource("volumes")];
  await after.load();
  for (const name of ["v0", "v5", "v1199"]) {
    const expected = valuesOf(before, name, "size", now - 99, now);
    t.ok(expected.length > 0);
    t.same(valuesOf(after, name, "size", now - 99, now), expected);
    t.same(statesOf(after, name, now - 99, now), statesOf(before, name, now - 99, now));
  }
  t.same([after.firstTick(), after.lastTick()], [now - 30, now - 10]);
  t.same(valuesOf(after, "ssd", "free", now - 99, now), valuesOf(before, "ssd", "free", now - 99, now));
  t.equal(after.read("gone", everything), undefined, "a source that is not configured any more");

  turn(
    after,
    now,
    [volumesAfter, { resources: [resource("v0", [bytes("size", 0)])] }],
    [systemsAfter, classes(now)],
  );
  t.same(valuesOf(after, "v0", "size", now - 12, now + 1), [
    [now - 12, now - 9, 0],
    [now, now + 1, 0],
  ]);
  t.same(valuesOf(after, "v1", "size", now - 9, now + 1), [], "it was removed meanwhile");
});

test("a file that is cut off, too old or of another step is not used", async (t) => {
  const file = await fileUnderTest(t);
  const saved = createUnderTest(t, { file });
  const source = saved.addSource("volumes");
  turn(saved, now - 1, [source, { resources: [resource("v1", [bytes("size", 1)])] }]);
  await saved.save();
  const read = async (options: Partial<HistoryOptions> = {}) => {
    const failures: string[] = [];
    const history = createUnderTest(t, { file, onFailed: (what) => failures.push(what), ...options });
    history.addSource("volumes");
    await history.load();
    return { failures, found: history.read("v1", everything) !== undefined };
  };
  t.same(await read(), { failures: [], found: true });
  t.same(await read({ stepMs: 30_000 }), { failures: [], found: false });
  t.same(await read({ file: `${file}.none` }), { failures: [], found: false });
  const whole = await readFile(file);
  await writeFile(file, whole.subarray(0, whole.length - 40));
  t.match(await read(), { failures: [/could not be read/], found: false });
  await writeFile(file, Buffer.concat([whole.subarray(0, 60), Buffer.alloc(200, 7), whole.subarray(-20)]));
  t.match(await read(), { failures: [/could not be read/], found: false });

  const old = createUnderTest(t, { file });
  turn(old, now - day - 5, [old.addSource("volumes"), { resources: [resource("v1", [])] }]);
  await old.save();
  t.same(await read(), { failures: [], found: false });
});
