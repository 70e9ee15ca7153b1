import { type Test, test } from "tap";
import type { LvmAdapter } from "../../../../../adapters/lvm/adapter.ts";
import { Controller } from "../../../../../gen/csi/v1/csi_pb.ts";
import { isLongForm } from "../../../../long-form.ts";
import { deathAt } from "../../../operations/death-at.ts";
import { createMortalStore } from "../../../operations/engine-under-test.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { type BackupsGateway, type HostUnderTest, volumeNames } from "../backups/backups-under-test.ts";
import {
  cloneRequest,
  createCsiGateway,
  createCsiHost,
  createSource,
  sourceId,
} from "./thick-clones-under-test.ts";

const { method } = Controller;

/** Requests a clone, whose gateway dies at boundary number `dieAt`; another gateway continues. */
async function runDeath(t: Test, store: HostUnderTest["store"], dieAt: number, isDeleted: boolean) {
  const { lvm, host: preparing } = createCsiHost(t, { store });
  const host = await preparing;
  const at = { host: `host-${dieAt}-${isDeleted}` };
  const requester = await createCsiGateway(t, host, { ...at, isIdle: true });
  await createSource(requester);
  const mortal = createMortalStore(host.store);
  const { died, boundary } = deathAt(mortal, dieAt);
  await createCsiGateway(t, host, { ...at, store: mortal, boundary });
  const created = requester.call(method.createVolume, cloneRequest);
  const place = await Promise.race([died, created.then(() => undefined)]);
  const deleted =
    place !== undefined && isDeleted
      ? requester.call(method.deleteVolume, { volumeId: "vg0/clone" })
      : undefined;
  const heir = place === undefined ? undefined : await createCsiGateway(t, host, at);
  await Promise.allSettled([created, deleted]);
  await heir?.close();
  return { lvm, requester, created, deleted, place };
}

async function leftOf(lvm: LvmAdapter, requester: BackupsGateway) {
  const { entries } = await requester.call(method.listVolumes, {});
  return { listed: entries.map(({ volume }) => volume?.volumeId), volumes: await volumeNames(lvm) };
}

for (const isDeleted of [false, true]) {
  test(`a clone is ${isDeleted ? "deleted" : "complete"} wherever its gateway dies`, async (t) => {
    const store = await openOwnStore(t);
    for (let dieAt = 1; ; dieAt += 1) {
      const { lvm, requester, created, deleted, place } = await runDeath(t, store, dieAt, isDeleted);
      const where = `killed at ${place ?? "nowhere"}`;
      await deleted;
      const names = deleted === undefined ? ["vg0/clone", sourceId] : [sourceId];
      if (deleted === undefined) {
        t.same(await requester.call(method.createVolume, cloneRequest), await created, where);
      }
      t.same(await leftOf(lvm, requester), { listed: names, volumes: names }, where);
      if (place === undefined) {
        t.ok(dieAt > (isLongForm ? 10 : 2), `${dieAt - 1} boundaries`);
        return;
      }
    }
  });
}
