import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { EventSchema } from "../../../../../gen/hostplane/v1/event_pb.ts";
import type { DeviceClass } from "../../../../../server/domains/volumes/device-class.ts";
import {
  type ObservedVolumes,
  parseObservedVolumes,
} from "../../../../../server/domains/volumes/events/observed-volumes.ts";
import { volumeChanges } from "../../../../../server/domains/volumes/events/volume-changes.ts";
import { groupOf, stateOf, volumeOf } from "../lvm-state.ts";
import { applyEvent, pictureOf, states } from "./volume-picture.ts";

const gib = 1n << 30n;
const thick: DeviceClass = { name: "ssd", volumeGroup: "vg0", default: true, spareGiB: 10 };
const thin: DeviceClass = { name: "thin", volumeGroup: "vg0", default: false, spareGiB: 0, thinPool: "pool" };
const options = {
  host: "h1",
  deviceClasses: [thick, thin],
  lowSpacePercent: 10,
  ownChangeOf: () => undefined,
};

/** Returns the events for each state after the first, which yields none. */
function changesOfAll(first: LvmState, ...others: readonly LvmState[]) {
  let { observed } = volumeChanges(undefined, first, options);
  return others.map((state) => {
    const reported = volumeChanges(observed, state, options);
    observed = reported.observed;
    return reported.events.map(({ type, resource, payload }) => ({ type, resource, ...(payload as object) }));
  });
}

const vg0 = groupOf("vg0", 50n * gib);
const data = volumeOf("vg0", "data", { tags: ["a"], active: true });

test("the first state yields no events", (t) => {
  const { events, observed } = volumeChanges(undefined, stateOf([groupOf("vg0", 0n)], [data]), options);
  t.strictSame(events, []);
  t.match(observed, { groups: [{ name: "vg0", freeBytes: "0" }], volumes: [{ name: "data" }], low: ["vg0"] });
  t.end();
});

test("an event about a volume contains its current state", (t) => {
  const reported = changesOfAll(
    stateOf([vg0], []),
    stateOf([vg0], [data]),
    stateOf([vg0], [{ ...data, sizeBytes: 2n * gib }]),
    stateOf([vg0], [{ ...data, sizeBytes: 2n * gib, tags: [], active: false, health: "partial" }]),
    stateOf([vg0], []),
  );
  const volume = { name: "data", volumeGroup: "vg0", deviceClass: "ssd", outside: true };
  const resource = "volumeGroups/vg0/volumes/data";
  t.strictSame(reported, [
    [
      {
        type: "volume.created",
        resource,
        volume: { ...volume, sizeBytes: "1073741824", tags: ["a"], changes: [] },
      },
    ],
    [
      {
        type: "volume.resized",
        resource,
        volume: {
          ...volume,
          sizeBytes: "2147483648",
          previousSizeBytes: "1073741824",
          tags: ["a"],
          changes: [],
        },
      },
    ],
    [
      {
        type: "volume.changed",
        resource,
        volume: {
          ...volume,
          sizeBytes: "2147483648",
          tags: [],
          changes: ["tags: a -> none", "active: yes -> no", "health: ok -> partial"],
        },
      },
    ],
    [
      {
        type: "volume.removed",
        resource,
        volume: { ...volume, sizeBytes: "2147483648", tags: [], changes: [] },
      },
    ],
  ]);
  t.end();
});

test("a volume is identified by its UUID: renamed, not removed and created", (t) => {
  const [renamed, replaced] = changesOfAll(
    stateOf([vg0], [data]),
    stateOf([vg0], [{ ...data, name: "other", sizeBytes: 2n * gib }]),
    stateOf([vg0], [{ ...data, name: "other", uuid: "another" }]),
  );
  t.match(renamed, [
    { type: "volume.changed", resource: /other$/, volume: { changes: ["name: data -> other"] } },
    { type: "volume.resized", resource: /other$/ },
  ]);
  t.match(replaced, [{ type: "volume.removed" }, { type: "volume.created" }]);
  t.end();
});

test("swapped names are reported in an order that is possible", (t) => {
  const named = (uuid: string, name: string) => volumeOf("vg0", name, { uuid });
  const [chain, circle] = changesOfAll(
    stateOf([vg0], [named("1", "a"), named("2", "b")]),
    stateOf([vg0], [named("1", "b"), named("2", "c")]),
    stateOf([vg0], [named("1", "c"), named("2", "b")]),
  );
  t.match(chain, [{ volume: { changes: ["name: b -> c"] } }, { volume: { changes: ["name: a -> b"] } }]);
  t.match(circle, [
    { type: "volume.removed", resource: /b$/ },
    { type: "volume.changed", resource: /b$/, volume: { changes: ["name: c -> b"] } },
    { type: "volume.created", resource: /c$/, volume: { changes: ["name: b -> c"] } },
  ]);
  t.end();
});

test("a group that is gone keeps its volumes; its return is reported with what has changed", (t) => {
  const [gone, back] = changesOfAll(
    stateOf([vg0], [data, volumeOf("vg0", "old")]),
    stateOf([], []),
    stateOf([vg0], [data, volumeOf("vg0", "new")]),
  );
  const group = {
    name: "vg0",
    deviceClasses: ["ssd", "thin"],
    freeBytes: String(50n * gib),
    sizeBytes: String(100n * gib),
  };
  t.strictSame(gone, [{ type: "volumeGroup.gone", resource: "volumeGroups/vg0", volumeGroup: group }]);
  t.match(back, [
    { type: "volumeGroup.back", resource: "volumeGroups/vg0", volumeGroup: group },
    { type: "volume.removed", resource: /old$/ },
    { type: "volume.created", resource: /new$/ },
  ]);
  t.end();
});

test("a new group of the same name replaces one that is away", (t) => {
  const [gone, replaced] = changesOfAll(
    stateOf([vg0], [data]),
    stateOf([], []),
    stateOf([{ ...vg0, uuid: "another" }], [{ ...data, uuid: "another" }]),
  );
  t.match(gone, [{ type: "volumeGroup.gone" }]);
  t.match(replaced, [{ type: "volumeGroup.back" }, { type: "volume.removed" }, { type: "volume.created" }]);
  t.end();
});

test("a renamed group is gone under the old name, and its volumes are renamed", (t) => {
  const [renamed, back] = changesOfAll(
    stateOf([vg0], [data]),
    stateOf([{ ...vg0, name: "vg1" }], [{ ...data, volumeGroupName: "vg1" }]),
    stateOf([vg0], [data]),
  );
  t.match(renamed, [
    { type: "volumeGroup.gone", resource: "volumeGroups/vg0" },
    { type: "volumeGroup.back", resource: "volumeGroups/vg1" },
    {
      type: "volume.changed",
      resource: "volumeGroups/vg1/volumes/data",
      volume: { deviceClass: "", changes: ["volume group: vg0 -> vg1"] },
    },
  ]);
  t.match(back, [
    { type: "volumeGroup.gone" },
    { type: "volumeGroup.back", resource: "volumeGroups/vg0" },
    { type: "volume.changed" },
  ]);
  t.end();
});

test("a new group without a device class is not reported, but its volumes are", (t) => {
  const vg9 = groupOf("vg9", gib);
  const [created] = changesOfAll(stateOf([vg0], []), stateOf([vg0, vg9], [volumeOf("vg9", "x")]));
  t.match(created, [{ type: "volume.created", volume: { deviceClass: "" } }]);
  t.equal(created?.length, 1);
  t.end();
});

test("the thin pool of a class is gone and comes back", (t) => {
  const pool = volumeOf("vg0", "pool", { kind: "thinPool" });
  const [gone, back] = changesOfAll(stateOf([vg0], [pool]), stateOf([vg0], []), stateOf([vg0], [pool]));
  const volumeGroup = { name: "vg0/pool", deviceClasses: ["thin"] };
  t.match(gone, [
    { type: "volumeGroup.gone", resource: "volumeGroups/vg0/volumes/pool", volumeGroup },
    { type: "volume.removed", volume: { deviceClass: "" } },
  ]);
  t.match(back, [{ type: "volumeGroup.back", volumeGroup }, { type: "volume.created" }]);
  const away = changesOfAll(stateOf([vg0], [pool]), stateOf([], []), stateOf([vg0], [pool]));
  t.match(away, [[{ type: "volumeGroup.gone" }], [{ type: "volumeGroup.back" }]]);
  t.strictSame(
    away.map((events) => events.length),
    [1, 1],
    "the pool of a group that is gone is not reported",
  );
  t.end();
});

test("low and enough are reported once each, with a hysteresis", (t) => {
  const free = (percent: bigint) => stateOf([groupOf("vg0", percent * gib)], []);
  const reported = changesOfAll(free(50n), free(10n), free(9n), free(5n), free(11n), free(12n), free(10n));
  t.strictSame(
    reported.map((events) => events.map(({ type }) => type)),
    [[], ["volumeGroup.low"], [], [], ["volumeGroup.enough"], []],
  );
  t.match(reported[1], [
    { volumeGroup: { name: "vg0", deviceClasses: ["ssd"], freeBytes: String(9n * gib) } },
  ]);
  t.end();
});

test("a thin pool is low by its written data and by its metadata, each with its own events", (t) => {
  const filled = (dataPercent: number | undefined, metadataPercent: number | undefined) => {
    const facts = { kind: "thinPool", dataPercent, metadataPercent, metadataSizeBytes: gib / 256n } as const;
    return stateOf([vg0], [volumeOf("vg0", "pool", facts)]);
  };
  const reported = changesOfAll(
    filled(0, 10),
    filled(90.5, 10),
    filled(undefined, undefined),
    filled(50, 10),
    filled(50, 95),
    filled(95, 95),
    filled(95, 50),
  );
  t.match(reported, [
    [
      {
        type: "volumeGroup.low",
        resource: "volumeGroups/vg0/volumes/pool",
        volumeGroup: { name: "vg0/pool", freeBytes: "102005473", sizeBytes: String(gib) },
      },
    ],
    [],
    [{ type: "volumeGroup.enough" }],
    [
      {
        type: "volumeGroup.low",
        volumeGroup: { name: "vg0/pool", isMetadata: true, freeBytes: "209715", sizeBytes: "4194304" },
      },
    ],
    [{ type: "volumeGroup.low", volumeGroup: { isMetadata: undefined } }],
    [{ type: "volumeGroup.enough", volumeGroup: { isMetadata: true } }],
  ]);
  t.end();
});

test("with a limit of 0 a group is never low", (t) => {
  const { observed } = volumeChanges(undefined, stateOf([groupOf("vg0", 0n)], []), {
    ...options,
    lowSpacePercent: 0,
  });
  t.strictSame(observed.low, []);
  t.end();
});

test("applying the events in order to the old volumes gives the new ones", (t) => {
  fc.assert(
    fc.property(fc.array(states, { minLength: 2, maxLength: 6 }), ([first, ...others]) => {
      let { observed } = volumeChanges(undefined, first ?? stateOf([], []), options);
      const picture = pictureOf(observed);
      for (const state of others) {
        const kept = parseObservedVolumes(JSON.parse(JSON.stringify(observed)));
        t.strictSame(kept, observed, "the stored state survives JSON");
        const reported = volumeChanges(kept, state, options);
        for (const event of reported.events) {
          applyEvent(picture, event);
          fromJson(EventSchema, event.payload as JsonValue);
        }
        observed = reported.observed;
        t.strictSame(new Map([...picture].sort()), new Map([...pictureOf(observed)].sort()));
        t.strictSame(
          volumeChanges(observed, state, options),
          { observed, events: [] },
          "the same state again yields no events",
        );
      }
    }),
    { numRuns: 300 },
  );
  t.end();
});

test("every change of a volume yields an event", (t) => {
  fc.assert(
    fc.property(states, states, (first, second) => {
      const before = volumeChanges(undefined, first, options).observed;
      const { observed, events } = volumeChanges(before, second, options);
      const changed = observed.volumes.filter(
        (volume) => !before.volumes.some((one) => JSON.stringify(one) === JSON.stringify(volume)),
      );
      const reported = new Set(events.map(({ resource }) => resource));
      return changed.every(({ groupName, name }) =>
        reported.has(`volumeGroups/${groupName}/volumes/${name}`),
      );
    }),
  );
  t.end();
});

test("a stored state is parsed completely or rejected", (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      const parsed: ObservedVolumes | undefined = parseObservedVolumes(json);
      return parsed === undefined || Array.isArray(parsed.volumes);
    }),
  );
  t.equal(parseObservedVolumes({ groups: [], volumes: [{ name: "x" }], low: [] }), undefined);
  t.strictSame(parseObservedVolumes({ groups: [], volumes: [], low: [] }), {
    groups: [],
    volumes: [],
    low: [],
  });
  t.end();
});

test("a volume that is the same object is not observed again, and an equal one is no change", async (t) => {
  const other = volumeOf("vg0", "other", {});
  const first = volumeChanges(undefined, stateOf([vg0], [data, other]), options);
  const second = volumeChanges(first.observed, stateOf([vg0], [data, { ...other }]), options);
  t.strictSame(second, { observed: first.observed, events: [] });
  t.equal(second.observed.volumes[0], first.observed.volumes[0]);
  t.not(second.observed.volumes[1], first.observed.volumes[1]);
  const cloned = { ...vg0, uuid: "another" };
  const third = volumeChanges(second.observed, stateOf([cloned], [data]), options);
  t.match(third.observed.volumes[0], { name: "data", groupUuid: "another" });
});
