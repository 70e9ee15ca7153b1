import { type Test, test } from "tap";
import { isLongForm } from "../../../../long-form.ts";
import { deathAt } from "../../../operations/death-at.ts";
import { createMortalStore } from "../../../operations/engine-under-test.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { createPoolGateway, createPoolLvm, devicesOf, gib, type PoolGateway } from "./pool-under-test.ts";

interface Story {
  readonly name: string;
  readonly isCancelled: boolean;
  begin(gateway: PoolGateway): Promise<string>;
  readonly done: readonly string[];
}

const before = ["/dev/sandbox/a", "/dev/sandbox/c"];
const expand = {
  begin: async ({ expand }: PoolGateway) => (await expand(15n * gib)).id,
  done: ["/dev/sandbox/a", "/dev/sandbox/c", "/dev/sandbox/b", "/dev/sandbox/d"],
};
const shrink = {
  begin: async ({ shrink }: PoolGateway) => (await shrink(15n * gib)).id,
  done: ["/dev/sandbox/c"],
};
const stories: readonly Story[] = [
  { name: "an expansion", isCancelled: false, ...expand },
  { name: "an expansion that is cancelled while no gateway runs", isCancelled: true, ...expand },
  { name: "a shrinkage", isCancelled: false, ...shrink },
  { name: "a shrinkage that is cancelled while no gateway runs", isCancelled: true, ...shrink },
];

/** Runs a story with a gateway that dies at boundary number `dieAt`; another gateway continues. */
async function runStory(
  t: Test,
  store: Awaited<ReturnType<typeof openOwnStore>>,
  story: Story,
  dieAt: number,
) {
  const lvm = createPoolLvm();
  await lvm.runOnDevices({ kind: "addDevices", volumeGroupName: "pool", paths: ["/dev/sandbox/c"] });
  const at = { lvm, host: `host-${dieAt}` };
  const requester = await createPoolGateway(t, { ...at, store, isIdle: true });
  const id = await story.begin(requester);
  const mortal = createMortalStore(store);
  const { died, boundary } = deathAt(mortal, dieAt);
  await createPoolGateway(t, {
    ...at,
    store: mortal,
    boundary,
  });
  const end = () => requester.operations.ended(id, AbortSignal.timeout(60_000));
  const ended = end();
  const place = await Promise.race([died, ended.then(() => undefined)]);
  if (place !== undefined) {
    if (story.isCancelled) {
      await requester.operations.cancel(id).catch(() => {});
    }
    const heir = await createPoolGateway(t, { ...at, store });
    await end();
    await heir.close();
  }
  return { operation: await ended, place, left: await devicesOf(lvm) };
}

for (const story of stories) {
  test(`${story.name} ends correctly wherever its gateway dies`, async (t) => {
    const store = await openOwnStore(t);
    for (let dieAt = 1; ; dieAt += 1) {
      const { operation, place, left } = await runStory(t, store, story, dieAt);
      const where = `killed at ${place ?? "nowhere"}`;
      const isDone = operation.state === "completed";
      t.match(operation.state, story.isCancelled ? /^(completed|cancelled)$/ : /^completed$/, where);
      const pool = isDone ? story.done : before;
      t.strictSame(left, { pool: pool.toSorted(), marked: [], closed: [] }, where);
      if (place === undefined) {
        t.ok(dieAt > (isLongForm ? 8 : 1), `${dieAt - 1} boundaries`);
        return;
      }
    }
  });
}
