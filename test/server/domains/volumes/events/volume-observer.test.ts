import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { LvmAdapter } from "../../../../../adapters/lvm/adapter.ts";
import { storeReasons } from "../../../../../server/store/reasons.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import {
  create,
  makeLvm,
  publishedEvents,
  startObserver,
  untilPublished,
  untilVersion,
} from "./observer-under-test.ts";
import { applyEvent, type Picture } from "./volume-picture.ts";

const at = (name: string) => ({ volumeGroupName: "vg0", name });

/** Makes a transaction of the store fail, before or after it has run, for a number of calls. */
function failing(store: Store, name: string, when: "before" | "after", times: number): Pick<Store, "run"> {
  let left = times;
  return {
    run(transaction, args) {
      if (transaction !== name || left-- <= 0) {
        return store.run(transaction, args);
      }
      const refuse = () =>
        Promise.reject(new InfraError(storeReasons.STORE_UNAVAILABLE, "the database is lost"));
      return when === "before" ? refuse() : store.run(transaction, args).then(refuse);
    },
  };
}

test("the first read yields no events; afterwards own and foreign changes are published", async (t) => {
  const store = await openOwnStore(t);
  const lvm = makeLvm(t);
  const { lvm: ownLvm } = startObserver(t, lvm, store);
  await untilVersion(store, 1);
  t.strictSame(await publishedEvents(store), []);

  await ownLvm.run(create("mine", ["a"]));
  await untilPublished(store, ({ length }) => length === 1);
  await lvm.run(create("theirs"));
  await untilPublished(store, ({ length }) => length === 2);
  await lvm.run({ kind: "changeTags", ...at("mine"), addTags: ["b"], removeTags: [] });
  const events = await untilPublished(store, ({ length }) => length === 3);
  t.match(events, [
    {
      topic: "volumes",
      type: "volume.created",
      resource: "volumeGroups/vg0/volumes/mine",
      host: "h1",
      services: [
        "proto.VGService",
        "proto.LVService",
        "hostplane.v1.VolumeService",
        "csi.v1.Controller",
        "hostplane.v1.BackupService",
      ],
      payload: { volume: { deviceClass: "ssd", tags: ["a"], outside: false } },
    },
    { resource: /theirs$/, payload: { volume: { outside: true } } },
    { type: "volume.changed", payload: { volume: { outside: true, changes: ["tags: a -> a, b"] } } },
  ]);
});

test("every step of the gateway is recognized as its own", async (t) => {
  const store = await openOwnStore(t);
  const { lvm } = startObserver(t, makeLvm(t), store);
  await untilVersion(store, 1);
  const snapshot = { kind: "snapshot", ...at("snap"), originName: "data", tags: [], roomBytes: 1n } as const;
  const steps = [
    [create("data", ["hostplane-operation-op-1"]), 1],
    [{ kind: "resize", ...at("data"), sizeBytes: 3n << 22n }, 2],
    [{ ...snapshot, tags: ["hostplane-operation-op-2"] }, 3],
    [{ kind: "remove", ...at("snap") }, 4],
    [{ kind: "deactivate", ...at("data") }, 5],
    [{ kind: "activate", ...at("data") }, 6],
    [{ kind: "rename", ...at("data"), newName: "other" }, 7],
    [{ kind: "changeTags", ...at("other"), addTags: [], removeTags: ["hostplane-operation-op-1"] }, 8],
    [{ kind: "remove", ...at("other") }, 9],
  ] as const;
  for (const [step, count] of steps) {
    await lvm.run(step);
    await untilPublished(store, ({ length }) => length >= count);
  }
  const events = await publishedEvents(store);
  t.strictSame(
    events.map(({ type, operationId = "" }) => `${type} ${operationId}`),
    [
      "volume.created op-1",
      "volume.resized op-1",
      "volume.created op-2",
      "volume.removed op-2",
      "volume.changed op-1",
      "volume.changed op-1",
      "volume.changed op-1",
      "volume.changed op-1",
      "volume.removed ",
    ],
  );
  t.match(
    events.map(({ payload }) => payload),
    events.map(() => ({ volume: { outside: false } })),
  );
});

test("after an interruption the differences are published, with a gap", async (t) => {
  const store = await openOwnStore(t);
  const lvm = makeLvm(t);
  await lvm.run(create("old"));
  const first = startObserver(t, lvm, store);
  await untilVersion(store, 1);
  await first.close();
  const { observed } = await store.run("observed.read", { source: "sandbox-lvm/h1" });

  await lvm.run({ kind: "remove", ...at("old") });
  await lvm.run(create("brief"));
  await lvm.run({ kind: "remove", ...at("brief") });
  await lvm.run(create("new"));
  await lvm.run(create("made", ["hostplane-operation-op-1"]));
  startObserver(t, lvm, store);
  const events = await untilPublished(store, ({ length }) => length > 0);
  t.match(events, [
    { type: "volume.removed", resource: /old$/, payload: { volume: { outside: true } } },
    { type: "volume.created", resource: /new$/, payload: { volume: { outside: true } } },
    {
      type: "volume.created",
      resource: /made$/,
      operationId: "op-1",
      payload: { volume: { outside: false } },
    },
    {
      type: "gap",
      host: "h1",
      payload: {
        gap: { from: new Date(observed?.observedAtMs ?? 0).toISOString(), reason: /started to observe LVM/ },
      },
    },
  ]);
  const { gap } = (events.at(-1)?.payload ?? {}) as { gap: { from: string; to: string } };
  t.ok(Date.parse(gap.to) >= Date.parse(gap.from));
});

test("a stored state in an unknown format yields a gap, and observation starts over", async (t) => {
  const store = await openOwnStore(t);
  const source = "sandbox-lvm/h1";
  await store.run("observed.write", { source, version: 0, state: { newer: true }, events: [] });
  const lvm = makeLvm(t);
  await lvm.run(create("data"));
  startObserver(t, lvm, store);
  t.match(await untilPublished(store, ({ length }) => length > 0), [{ type: "gap" }]);
});

test("observers that share a store publish each change once, in a possible order", async (t) => {
  const store = await openOwnStore(t);
  const lvm = makeLvm(t);
  const observers = [
    startObserver(t, lvm, store),
    startObserver(t, lvm, store),
    startObserver(t, lvm, store),
  ];
  await untilVersion(store, 1);
  const names = fc.sample(fc.nat(4), { numRuns: 60, seed: 42 }).map((number) => `lv${number}`);
  const present = new Set<string>();
  for (const [index, name] of names.entries()) {
    const by = [lvm, ...observers.map((observer) => observer.lvm)][index % 4] ?? lvm;
    if (present.delete(name)) {
      await by.run({ kind: "remove", ...at(name) });
    } else {
      present.add(name);
      await by.run(create(name));
    }
  }
  await lvm.run(create("last"));
  const events = await untilPublished(store, (reported) =>
    reported.some(({ resource }) => resource.endsWith("/last")),
  );
  const picture: Picture = new Map();
  for (const event of events) {
    applyEvent(picture, event);
  }
  t.strictSame(
    [...picture.keys()].sort(),
    [...present, "last"].map((name) => `volumeGroups/vg0/volumes/${name}`).sort(),
  );
  await Promise.all(observers.map(({ close }) => close()));
  const later = (await publishedEvents(store)).slice(events.length).filter(({ type }) => type !== "gap");
  t.strictSame(later, [], "only the gaps of observers that began later");
  t.strictSame(
    observers.flatMap(({ failures }) => failures),
    [],
  );
});

test("failed writes are retried, and nothing is published twice", async (t) => {
  for (const when of ["before", "after"] as const) {
    const store = await openOwnStore(t);
    const lvm = makeLvm(t);
    const first = startObserver(t, lvm, store);
    await untilVersion(store, 1);
    await first.close();
    const { failures } = startObserver(t, lvm, failing(store, "observed.write", when, 3));
    await untilPublished(store, (events) => events.some(({ type }) => type === "gap"));
    await lvm.run(create("a"));
    await untilPublished(store, (events) => events.some(({ resource }) => resource.endsWith("/a")));
    await lvm.run(create("b"));
    const events = await untilPublished(store, (reported) =>
      reported.some(({ resource }) => resource.endsWith("/b")),
    );
    const created = events.filter(({ type }) => type === "volume.created");
    t.strictSame(
      created.map(({ resource }) => resource),
      ["volumeGroups/vg0/volumes/a", "volumeGroups/vg0/volumes/b"],
    );
    t.ok(failures.length > 0 && failures.length <= 3);
  }
});

test("after LVM could not be read, the differences are published with a gap", async (t) => {
  const store = await openOwnStore(t);
  const sandbox = makeLvm(t);
  let isBroken = false;
  const breakable: LvmAdapter["read"] = async (signal) => {
    if (isBroken) {
      throw new InfraError(hostReasons.TOOL_FAILED, "lvm is broken");
    }
    return sandbox.read(signal);
  };
  const { failures } = startObserver(t, { ...sandbox, read: breakable }, store);
  await untilVersion(store, 1);
  isBroken = true;
  await sandbox.run(create("data"));
  while (failures.length === 0) {
    await new Promise(setImmediate);
  }
  isBroken = false;
  const events = await untilPublished(store, ({ length }) => length > 0);
  t.match(events, [
    { type: "volume.created" },
    { type: "gap", payload: { gap: { reason: "LVM could not be read: lvm is broken" } } },
  ]);
  t.match(failures, [{ reason: "TOOL_FAILED" }]);
});

test("an unchanged state is confirmed periodically", async (t) => {
  const store = await openOwnStore(t);
  startObserver(t, makeLvm(t), store, { confirmMs: 5 });
  await untilVersion(store, 1);
  const read = async () => (await store.run("observed.read", { source: "sandbox-lvm/h1" })).observed;
  const first = await read();
  let later = first;
  while (later?.observedAtMs === first?.observedAtMs) {
    later = await read();
  }
  t.equal(later?.version, 1);
});

test("a change just before closing is published as the gateway's own", async (t) => {
  const store = await openOwnStore(t);
  const { lvm, close } = startObserver(t, makeLvm(t), store);
  await untilVersion(store, 1);
  await lvm.run(create("data"));
  await close();
  t.match(await publishedEvents(store), [
    { type: "volume.created", payload: { volume: { outside: false } } },
  ]);
});

test("an LVM that hangs does not block closing", async (t) => {
  const store = await openOwnStore(t);
  const lvm = makeLvm(t);
  const read: LvmAdapter["read"] = (signal) =>
    new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  const { close, failures } = startObserver(t, { ...lvm, read }, store);
  const startedAtMs = performance.now();
  await close();
  t.ok(performance.now() - startedAtMs < 10_000);
  t.strictSame(failures, []);
});

test("an observer can be closed at any time", async (t) => {
  const store = await openOwnStore(t);
  const lvm = makeLvm(t);
  for (let turns = 0; turns < 40; turns += 1) {
    const { close } = startObserver(t, lvm, store);
    const changes = [1, 2, 3].map((number) => lvm.run(create(`lv${turns}-${number}`)));
    for (let turn = 0; turn < turns; turn += 1) {
      await new Promise(setImmediate);
    }
    await close();
    await Promise.all(changes);
  }
  const events = (await publishedEvents(store)).filter(({ type }) => type === "volume.created");
  const { volumes } = (await lvm.read()).value;
  t.equal(new Set(events.map(({ resource }) => resource)).size, events.length, "nothing is published twice");
  t.ok(events.length <= volumes.length);
});
