import { type Test, test } from "tap";
import type { LibvirtAdapter } from "../../../../adapters/libvirt/adapter.ts";
import type { Store } from "../../../../server/store/store.ts";
import { isLongForm } from "../../../long-form.ts";
import { deathAt } from "../../operations/death-at.ts";
import { createMortalStore } from "../../operations/engine-under-test.ts";
import { openOwnStore } from "../../store/own-store.ts";
import {
  createHypervisorGateway,
  createLibvirt,
  follow,
  leftAfterCreation,
  leftOf,
  settings,
  template,
  untouched,
} from "./hypervisors-under-test.ts";

type Left = Awaited<ReturnType<typeof leftOf>>;

interface Story {
  readonly name: string;
  readonly verb: "create" | "destroy";
  readonly isCancelled: boolean;
  /** Expected result if the operation is done, and if it is undone. */
  readonly done: Left;
  readonly undone: Left;
  /** Minimum number of points at which the gateway can be killed. */
  readonly boundaries: number;
}

const creation = { verb: "create", done: leftAfterCreation, undone: untouched, boundaries: 12 } as const;
const destruction = { verb: "destroy", done: untouched, undone: leftAfterCreation, boundaries: 8 } as const;
const stories: readonly Story[] = [
  { name: "a creation", isCancelled: false, ...creation },
  { name: "a creation that is cancelled while no gateway runs", isCancelled: true, ...creation },
  { name: "a destruction", isCancelled: false, ...destruction },
  { name: "a destruction that is cancelled while no gateway runs", isCancelled: true, ...destruction },
];

/** Runs a story with a gateway that dies at boundary number `dieAt`; another gateway continues. */
async function runStory(t: Test, store: Store, story: Story, dieAt: number) {
  const libvirt = createLibvirt(t);
  const destroy = { graceSeconds: 1, deleteVolumes: true };
  const at = { libvirt, host: `host-${dieAt}`, settings: { ...settings, destroy } };
  const requester = await createHypervisorGateway(t, { ...at, store, isIdle: true });
  const client = await requester.client();
  if (story.verb === "destroy") {
    const helper = await createHypervisorGateway(t, { ...at, store });
    await follow((options) => client.createHypervisor({ id: "hv-1" }, options));
    await helper.close();
  }
  const started = Promise.withResolvers<string>();
  const call = story.verb === "create" ? client.createHypervisor : client.destroyHypervisor;
  const reported = follow(({ onHeader, ...options }) =>
    call(
      { id: "hv-1" },
      {
        ...options,
        onHeader(headers) {
          onHeader(headers);
          started.resolve(headers.get("hostplane-operation") ?? "");
        },
      },
    ),
  );
  const id = await started.promise;
  const mortal = createMortalStore(store);
  const { died, boundary } = deathAt(mortal, dieAt);
  await createHypervisorGateway(t, {
    ...at,
    store: mortal,
    boundary,
  });
  const place = await Promise.race([died, reported.then(() => undefined)]);
  if (place !== undefined) {
    if (story.isCancelled) {
      await requester.operations.cancel(id).catch(() => {});
    }
    const heir = await createHypervisorGateway(t, { ...at, store });
    await requester.end(id);
    await heir.close();
  }
  return { operation: await requester.end(id), place, left: await leftOf(libvirt), reported: await reported };
}

for (const story of stories) {
  test(`${story.name} ends correctly wherever its gateway dies`, async (t) => {
    const store = await openOwnStore(t);
    for (let dieAt = 1; ; dieAt += 1) {
      const { operation, place, left, reported } = await runStory(t, store, story, dieAt);
      const where = `killed at ${place ?? "nowhere"}`;
      const isDone = operation.state === "completed";
      t.match(operation.state, story.isCancelled ? /^(completed|cancelled)$/ : /^completed$/, where);
      t.same(left, isDone ? story.done : story.undone, where);
      t.match(
        reported.last,
        isDone ? /^COMPLETED/ : /^FAILED cancelled/,
        `${where}: the watching client gets the result`,
      );
      if (place === undefined) {
        t.ok(dieAt > (isLongForm ? story.boundaries : 2), `${dieAt - 1} boundaries`);
        return;
      }
    }
  });
}

test("undo does not stop a VM that was started from outside meanwhile", async (t) => {
  const store = await openOwnStore(t);
  for (const isCancelled of [true, false]) {
    const libvirt = createLibvirt(t);
    const silent: LibvirtAdapter = { ...libvirt, isReady: async () => false };
    const templates = [{ id: "old-2", ...template, readyTimeoutSeconds: 0 }];
    const at = { libvirt: silent, host: `alone-${isCancelled}`, settings: { ...settings, templates } };
    const requester = await createHypervisorGateway(t, { ...at, store, isIdle: true });
    const client = await requester.client();
    const started = Promise.withResolvers<string>();
    const onHeader = (headers: Headers) => started.resolve(headers.get("hostplane-operation") ?? "");
    const reported = follow(() => client.createHypervisor({ id: "old-2" }, { onHeader }));
    const id = await started.promise;
    const mortal = createMortalStore(store);
    const died = Promise.withResolvers<void>();
    await createHypervisorGateway(t, {
      ...at,
      store: mortal,
      boundary(name) {
        if (name === "before forward start") {
          mortal.die();
          died.resolve();
          return new Promise<void>(() => {});
        }
      },
    });
    await died.promise;
    libvirt.runOutside({ kind: "start", name: "old-2", uuid: "00000000-0000-4000-8000-000000000002" });
    if (isCancelled) {
      await requester.operations.cancel(id);
    }
    const heir = await createHypervisorGateway(t, { ...at, store });
    t.equal((await requester.end(id)).state, isCancelled ? "cancelled" : "failed");
    await heir.close();
    t.match((await reported).last, isCancelled ? /^FAILED cancelled/ : /^FAILED old-2 is not ready/);
    t.same((await leftOf(libvirt)).running, ["old-1", "old-2"]);
  }
});
