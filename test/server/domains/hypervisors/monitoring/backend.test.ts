import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter } from "../../../../../adapters/libvirt/adapter.ts";
import { libvirtReasons } from "../../../../../adapters/libvirt/reasons.ts";
import { createLibvirtBackend } from "../../../../../server/domains/hypervisors/monitoring/backend.ts";
import { createLibvirt, settings, template } from "../hypervisors-under-test.ts";

test("libvirt is reported with its version, even after an upgrade", async (t) => {
  const sandbox = createLibvirt(t);
  let version = "9.0.0";
  const libvirt: LibvirtAdapter = {
    ...sandbox,
    version: async () => version,
    inspect: () => t.fail("inspect is too slow for a status") as never,
  };
  const backend = createLibvirtBackend(libvirt, settings);
  t.match(await backend.status(), { health: "ok", version: "9.0.0", missing: [] });
  sandbox.setOutage(new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "it is stopped"));
  const away = { health: "unavailable", version: "9.0.0", missing: ["it is stopped"] };
  t.match(await backend.status(), away, "the last known version");
  version = "10.2.0";
  sandbox.setOutage(undefined);
  t.match(await backend.status(), { health: "ok", version: "10.2.0" });
});

test("libvirt is degraded if a template's pool is missing", async (t) => {
  const templates = [{ id: "hv-1", ...template, disk: { pool: "none", sizeGib: 1 } }];
  const backend = createLibvirtBackend(createLibvirt(t), { ...settings, templates });
  t.match(await backend.status(), { health: "degraded", missing: [/^the storage pool none is missing/] });
});
