import { type Test, test } from "tap";
import { createClustersDomain } from "../../../../server/domains/clusters/serve.ts";
import type { ClusterSystem } from "../../../../server/domains/clusters/open-real.ts";
import { createSandboxClusters } from "../../../../server/domains/clusters/open-real.ts";
import { createInlineRunner } from "../../../../server/operations/run-inline.ts";
import { openOwnStore } from "../../store/own-store.ts";
import { withoutStore } from "../../without-store.ts";

async function createDomain(t: Test, clusters: ClusterSystem | undefined) {
  const store = await openOwnStore(t);
  const warnings: string[] = [];
  const domain = createClustersDomain({
    ...withoutStore(),
    store,
    systems: { volumes: undefined, clusters, close: async () => {} },
    runner: createInlineRunner(() => {}),
    auth: { registrations: [], planners: [] },
    facts: { version: "test", host: "host1", isSandbox: true, startedAtMs: 0, listeners: () => [] },
    maxMessageBytes: 1 << 20,
    log: { warn: (message) => void warnings.push(message) },
  });
  return { domain, store, warnings };
}

test("without a MAAS the domain is off, names the key that enables it, and starts nothing", async (t) => {
  const { domain } = await createDomain(t, undefined);
  t.equal(domain.registrations.length, 2);
  t.equal(domain.planners.length, 2);
  t.match(domain.backends, [{ domain: "clusters", name: "maas", kind: "off" }]);
  t.match(await domain.backends[0]?.status(), { health: "unavailable", missing: [/set `clusters` in/] });
  t.equal(domain.beginSchedules, undefined);
});

test("the domain's scheduled work ends when it is closed, and logs no errors", async (t) => {
  const system = createSandboxClusters();
  t.teardown(() => system.close());
  const { domain, warnings } = await createDomain(t, system);
  const schedules = domain.beginSchedules?.();
  t.match(await domain.backends[0]?.status(), { health: "ok", version: "3.4.10", missing: [] });
  await schedules?.close();
  t.same(warnings, []);
});
