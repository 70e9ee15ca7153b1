import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter } from "../../../../adapters/libvirt/adapter.ts";
import { createLibvirtBackend } from "../../../../server/domains/hypervisors/backend.ts";
import { createLibvirt, settings, template } from "./hypervisors-under-test.ts";

test("libvirt is told with its version, also after another one has taken its place", async (t) => {
  const sandbox = createLibvirt(t);
  let version = "9.0.0";
  const libvirt: LibvirtAdapter = {
    ...sandbox,
    version: async () => version,
    inspect: () => t.fail("it is a costly question") as never,
  };
  const backend = createLibvirtBackend(libvirt, settings);
  t.match(await backend.status(), { health: "ok", version: "9.0.0", missing: [] });
  sandbox.setOutage(new InfraError("LIBVIRT_UNAVAILABLE", "it is stopped"));
  const away = { health: "unavailable", version: "9.0.0", missing: ["it is stopped"] };
  t.match(await backend.status(), away, "the last one that is known");
  version = "10.2.0";
  sandbox.setOutage(undefined);
  t.match(await backend.status(), { health: "ok", version: "10.2.0" });
});

test("a pool of a template that is not there degrades it", async (t) => {
  const templates = [{ id: "hv-1", ...template, disk: { pool: "none", sizeGib: 1 } }];
  const backend = createLibvirtBackend(createLibvirt(t), { ...settings, templates });
  t.match(await backend.status(), { health: "degraded", missing: [/^the storage pool none is not there/] });
});
