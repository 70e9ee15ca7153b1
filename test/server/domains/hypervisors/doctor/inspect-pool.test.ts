import { test } from "tap";
import { createPoolInspector } from "../../../../../server/domains/hypervisors/doctor/inspect-pool.ts";
import { createDirectoryPool } from "../../../../../server/domains/hypervisors/pool/directory-pool.ts";
import { createVolumeGroupPool } from "../../../../../server/domains/hypervisors/pool/volume-group-pool.ts";
import { createPool, createPoolLvm, devices } from "../pool/pool-under-test.ts";

test("doctor reports the pool's free space, and whether each spare can be added", async (t) => {
  const { findings } = await createPoolInspector(createPool(createPoolLvm())).inspect();
  t.match(findings, [
    { ok: true, what: /^volume group pool: 4 GiB .* free of 10 GiB / },
    { ok: true, what: /^spare \/dev\/sandbox\/b: 10 GiB / },
    { ok: true },
    { ok: true },
    { ok: false, what: "spare /dev/sandbox/taken cannot be added: it contains ext4", fix: /wipefs/ },
  ]);
});

test("doctor reports a missing pool", async (t) => {
  const pool = createDirectoryPool({ directory: `${t.testdir()}/absent` });
  const { findings } = await createPoolInspector(pool).inspect();
  t.match(findings, [{ ok: false, what: /cannot be read/, fix: /mkdir/ }]);
});

test("doctor reports the spares even when their volume group is missing", async (t) => {
  const lvm = createPoolLvm();
  const pool = createVolumeGroupPool({ lvm, volumeGroup: "gone", devices, canMove: true });
  const { findings } = await createPoolInspector(pool).inspect();
  t.match(findings, [
    { ok: false, what: /the volume group gone is missing/, fix: /vgs/ },
    { ok: false, what: "spare /dev/sandbox/a cannot be added: it is in the volume group pool" },
    { ok: true, what: /^spare \/dev\/sandbox\/b: 10 GiB / },
    { ok: true },
    { ok: true },
    { ok: false, what: "spare /dev/sandbox/taken cannot be added: it contains ext4", fix: /wipefs/ },
  ]);
});
