import tap, { test } from "tap";
import { createLvm } from "../../../adapters/lvm/lvm.ts";
import type { NewEvent } from "../../../server/events/store/events.ts";
import {
  publishedEvents,
  startObserver,
  untilPublished,
  untilVersion,
} from "../../server/domains/volumes/events/observer-under-test.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";

const skip = await reasonToSkip();

// An lvm command takes a second or more in an emulated machine.
tap.setTimeout(300_000);

/** Returns the events without the gap of a gateway that starts after another. */
function changesIn(events: readonly NewEvent[]): NewEvent[] {
  return events.filter(({ type }) => type !== "gap");
}

if (skip !== undefined) {
  test("events of LVM on loop devices", { skip }, async () => {});
} else {
  test("a change from a shell is published soon, once, by one of two gateways", async (t) => {
    const { names, options, shell } = await makeLoopVolumeGroups(t);
    const [group = ""] = names;
    const store = await openOwnStore(t);
    const deviceClasses = [{ name: "ssd", volumeGroup: group, default: true, spareGiB: 0 }];
    const gateways = [createLvm(options), createLvm(options)].map((lvm) => {
      t.teardown(() => lvm.close());
      return startObserver(t, lvm, store, { deviceClasses });
    });
    await untilVersion(store, 1, "lvm/h1");
    const isAuto = options.activation === "auto";

    const typed: readonly (readonly [args: readonly string[], types: readonly string[]])[] = [
      [
        ["lvcreate", ...(isAuto ? ["-y"] : ["-an", "-Zn", "-Wn"]), "-L4m", "-n", "typed", group],
        ["volume.created"],
      ],
      [["lvextend", "-L8m", `${group}/typed`], ["volume.resized"]],
      [["lvchange", "--addtag", "a", `${group}/typed`], ["volume.changed"]],
      [["lvrename", group, "typed", "renamed"], ["volume.changed"]],
      ...(isAuto ? ([[["lvchange", "-an", `${group}/renamed`], ["volume.changed"]]] as const) : []),
      [["vgexport", group], ["volumeGroup.gone"]],
      [["vgimport", group], ["volumeGroup.back"]],
      [
        ["lvcreate", "-an", "-Zn", "-Wn", "-l46", "-n", "fill", group],
        ["volume.created", "volumeGroup.low"],
      ],
      [
        ["lvremove", "-f", `${group}/fill`],
        ["volume.removed", "volumeGroup.enough"],
      ],
    ];
    const expected: string[] = [];
    let slowestMs = 0;
    for (const [args, types] of typed) {
      await shell(...args);
      const endedAtMs = performance.now();
      expected.push(...types);
      await untilPublished(store, (events) => changesIn(events).length >= expected.length);
      const tookMs = performance.now() - endedAtMs;
      slowestMs = Math.max(slowestMs, tookMs);
    }
    t.comment(`published at most ${Math.round(slowestMs)} ms after the end of the command`);
    t.ok(slowestMs < 60_000, "long before the next read without a notice");

    await gateways[0]?.lvm.run({
      kind: "create",
      volumeGroupName: group,
      name: "own",
      sizeBytes: 1n,
      tags: [],
    });
    await untilPublished(store, (events) => changesIn(events).length > expected.length);
    await Promise.all(gateways.map(({ close }) => close()));
    const events = changesIn(await publishedEvents(store));
    t.strictSame(
      events.map(({ type }) => type),
      [...expected, "volume.created"],
    );
    t.match(
      events.filter(({ resource }) => /(typed|renamed|fill)$/.test(resource)).map(({ payload }) => payload),
      expected.filter((type) => type.startsWith("volume.")).map(() => ({ volume: { outside: true } })),
    );
    t.strictSame(
      gateways.flatMap(({ failures }) => failures),
      [],
    );
  });
}
