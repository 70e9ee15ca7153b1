import fc from "fast-check";
import { test } from "tap";
import { createMaasSandbox } from "../../../../../../adapters/maas/sandbox.ts";
import { isLikeThat } from "../../../../../../server/domains/clusters/reconcile/machines/constraints.ts";

test("a machine meets the constraints exactly when MAAS would allocate it", async (t) => {
  const maas = await createMaasSandbox();
  t.teardown(() => maas.close());
  await maas.allocate({ systemId: "sbxccc", agentName: "somebody" });
  const machines = await maas.machines();
  const constraints = fc.record(
    {
      tags: fc.subarray(["gpu", "standard"]),
      notTags: fc.subarray(["gpu"]),
      pool: fc.constantFrom("default", "kube"),
      notInPools: fc.subarray(["default", "kube"]),
      zone: fc.constant("default"),
      architecture: fc.constantFrom("amd64", "amd64/generic"),
      cpuCount: fc.constantFrom(4, 8, 9),
      memoryMib: fc.constantFrom(16_384, 16_385),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(constraints, async (expected) => {
      const free = machines
        .filter((machine) => isLikeThat(machine, expected))
        .map(({ systemId }) => systemId);
      const chosen = await maas.choose(expected).then(
        ({ systemId }) => systemId,
        () => undefined,
      );
      return chosen === undefined ? free.length === 0 : free.includes(chosen);
    }),
    { numRuns: 60 },
  );
  t.pass();
});
