import { test } from "tap";
import { createOffServices } from "../../../../server/domain/define-domain.ts";
import { clustersDomain } from "../../../../server/domains/clusters/domain.ts";
import { serveClusters } from "../../../../server/domains/clusters/serve.ts";
import { openSandboxClusters } from "../../../../server/domains/clusters/system/open-sandbox.ts";
import { contextUnderTest } from "../../domain/context-under-test.ts";
import { openOwnStore } from "../../store/own-store.ts";

test("without a MAAS the domain is off, names the key that enables it, and starts nothing", async (t) => {
  const domain = createOffServices(clustersDomain);
  t.equal(domain.registrations.length, 2);
  t.equal(domain.planners.length, 2);
  t.match(domain.backends, [{ domain: "clusters", name: "maas", kind: "off" }]);
  t.match(await domain.backends[0]?.status(), { health: "unavailable", missing: [/set `clusters` in/] });
  t.equal(domain.beginSchedules, undefined);
});

test("the domain's scheduled work ends when it is closed, and logs no errors", async (t) => {
  const system = openSandboxClusters();
  t.teardown(() => system.close());
  const warnings: string[] = [];
  const log = { warn: (message: string) => void warnings.push(message) };
  const domain = serveClusters(system, contextUnderTest({ store: await openOwnStore(t), log }));
  const schedules = domain.beginSchedules?.();
  t.match(await domain.backends[0]?.status(), { health: "ok", version: "3.4.10", missing: [] });
  await schedules?.close();
  t.same(warnings, []);
});
