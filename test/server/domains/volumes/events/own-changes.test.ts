import { test } from "tap";
import type { LvmAdapter } from "../../../../../adapters/lvm/adapter.ts";
import { observeVolumes } from "../../../../../server/domains/volumes/events/observed-volumes.ts";
import { createOwnChanges } from "../../../../../server/domains/volumes/events/own-changes.ts";
import {
  type VolumeDifference,
  volumeDifferences,
} from "../../../../../server/domains/volumes/events/volume-differences.ts";
import { reasonOf } from "../../../../adapters/host/reason-of.ts";
import { create, makeLvm } from "./observer-under-test.ts";

const at = (name: string) => ({ volumeGroupName: "vg0", name });

/** Returns the differences that a step causes. */
async function differencesBy(
  lvm: LvmAdapter,
  run: () => Promise<void>,
): Promise<{ differences: VolumeDifference[]; readAtMs: number }> {
  const before = observeVolumes(undefined, (await lvm.read()).value);
  await run();
  const { value, readAtMs } = await lvm.read();
  return {
    differences: volumeDifferences(before.volumes, observeVolumes(undefined, value).volumes),
    readAtMs,
  };
}

test("a change counts as the gateway's own until a state that shows it is published", async (t) => {
  const lvm = makeLvm(t);
  const own = createOwnChanges(lvm);
  const { differences, readAtMs } = await differencesBy(lvm, () => own.lvm.run(create("data")));
  const isOwn = () => differences.map((difference) => own.find(difference, performance.now()) !== undefined);
  t.strictSame(isOwn(), [true]);
  own.forget(readAtMs - 1);
  t.strictSame(isOwn(), [true]);
  own.forget(readAtMs);
  t.strictSame(isOwn(), [false]);
});

test("changes of snapshots that follow their origin are the gateway's own, those of other volumes are not", async (t) => {
  const lvm = makeLvm(t);
  const own = createOwnChanges(lvm);
  await lvm.run(create("data"));
  await lvm.run({ kind: "snapshot", ...at("snap"), originName: "data", tags: [], roomBytes: 1n });
  const { differences } = await differencesBy(lvm, async () => {
    await own.lvm.run({ kind: "deactivate", ...at("data") });
    await lvm.run(create("theirs"));
    await lvm.run({ kind: "changeTags", ...at("data"), addTags: ["x"], removeTags: [] });
  });
  t.strictSame(
    differences.map((difference) => [
      difference.volume.name,
      own.find(difference, performance.now()) !== undefined,
    ]),
    [
      ["data", true],
      ["snap", true],
      ["theirs", false],
    ],
  );
});

test("a failed change is forgotten", async (t) => {
  const lvm = makeLvm(t);
  const own = createOwnChanges(lvm);
  t.equal(await reasonOf(own.lvm.run({ kind: "remove", ...at("data") })), "VOLUME_NOT_FOUND");
  const { readAtMs } = await lvm.read();
  own.forget(readAtMs);
  const { differences } = await differencesBy(lvm, async () => {
    await lvm.run(create("data"));
    await lvm.run({ kind: "changeTags", ...at("data"), addTags: ["x"], removeTags: [] });
  });
  t.strictSame(
    differences.map((difference) => own.find(difference, performance.now())),
    [undefined],
  );
});
