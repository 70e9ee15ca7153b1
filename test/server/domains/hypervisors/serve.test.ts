import { type Test, test } from "tap";
import { createLibvirtSandbox } from "../../../../adapters/libvirt/sandbox.ts";
import { createResticSandbox } from "../../../../adapters/restic/sandbox.ts";
import { StoragePoolService } from "../../../../gen/hostplane/v1/storage_pool_pb.ts";
import { OperationsService } from "../../../../gen/operations/v1/operations_pb.ts";
import type { SharedStorage } from "../../../../server/domains/hypervisors/hypervisor-settings.ts";
import { createDirectoryPool } from "../../../../server/domains/hypervisors/pool/directory-pool.ts";
import { serveHypervisors } from "../../../../server/domains/hypervisors/serve.ts";
import type { HypervisorSystem } from "../../../../server/domains/hypervisors/system/system.ts";
import { contextUnderTest } from "../../domain/context-under-test.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { callerOf } from "../plan/plan-under-test.ts";

function createDomain(t: Test, sharedStorage: SharedStorage, poolBackup?: HypervisorSystem["poolBackup"]) {
  const libvirt = createLibvirtSandbox();
  t.teardown(() => libvirt.close());
  const destroy = { graceSeconds: 0, deleteVolumes: false };
  const hypervisors: HypervisorSystem = {
    libvirt,
    settings: { templates: [], match: [], destroy, sharedStorage },
    pool: createDirectoryPool({ directory: "/srv/pool" }),
    poolBackup,
    close: async () => {},
  };
  return serveHypervisors(hypervisors, contextUnderTest());
}

test("without a key that backups of the pool need, their calls are refused and the key is named", async (t) => {
  const backup = { repository: "/srv/backup" };
  const cases = [
    [{ directory: "/srv/pool", libvirtPool: "images" }, /set `hypervisors\.pool\.backup` in/],
    [{ directory: "/srv/pool", backup }, /set `hypervisors\.pool\.libvirtPool` in/],
    [{ directory: "/srv/pool" }, /`hypervisors\.pool\.backup` and `hypervisors\.pool\.libvirtPool`/],
    [{ volumeGroup: "vg0" }, /set `hypervisors\.pool\.backup` in/],
  ] as const;
  for (const [sharedStorage, message] of cases) {
    const { registrations, backupSource, backends } = createDomain(t, sharedStorage);
    for (const method of [
      OperationsService.method.createBackup,
      StoragePoolService.method.backUpStoragePool,
    ]) {
      const call = createCall({ method });
      call.identify(callerOf("admin"));
      const registration = registrations.find(({ service }) => service === method.parent);
      const answer = registration?.handlerOf(method)({}, call);
      const requested = method.methodKind === "unary" ? answer : (answer as AsyncGenerator<object>).next();
      await t.rejects(requested as Promise<object>, { name: "InfraError", reason: "DOMAIN_OFF", message });
    }
    t.match(backupSource, { resourceStart: "storagePool/", isOn: false });
    t.notOk(backends.some(({ name }) => name === "restic"));
  }
});

test("with these keys the pool is a source of backups, and restic is one of its systems", async (t) => {
  const libvirt = createLibvirtSandbox();
  t.teardown(() => libvirt.close());
  const { backupSource, backends } = createDomain(
    t,
    { directory: "/srv/pool", libvirtPool: "images" },
    {
      system: { kind: "directory", libvirt, libvirtPool: "images", directory: "/srv/pool" },
      restic: createResticSandbox(),
      settings: { repository: "/srv/backup", snapshotPercent: 10, minimumAgeHours: 1 },
    },
  );
  t.match(backupSource, { resourceStart: "storagePool/", isOn: true });
  t.ok(backends.some(({ domain, name }) => domain === "hypervisors" && name === "restic"));
});
