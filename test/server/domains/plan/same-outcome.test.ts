import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import { createLvmSandbox } from "../../../../adapters/lvm/sandbox.ts";
import { VolumeService } from "../../../../gen/hostplane/v1/volume_pb.ts";
import { LVService } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import type { Systems } from "../../../../server/gateway/systems.ts";
import { methodPathOf } from "../../../../server/rpc/call/method-rule.ts";
import { createPlanUnderTest } from "./plan-under-test.ts";

const gib = 1n << 30n;

/** Creates a sandbox with all kinds of volumes, which records the commands that it runs. */
function createBusySystems() {
  const sandbox = createLvmSandbox({
    volumeGroups: [
      {
        name: "vg0",
        sizeBytes: 30n * gib,
        volumes: [
          { name: "web", sizeBytes: 2n * gib },
          { name: "db", sizeBytes: 3n * gib, open: true },
          { name: "keep1", sizeBytes: gib },
          { name: "origin", sizeBytes: gib },
          { name: "snap", sizeBytes: gib, snapshotOf: "origin" },
          { name: "pool", sizeBytes: 5n * gib, thinPool: true },
        ],
      },
    ],
  });
  const ran: (readonly string[])[] = [];
  const lvm: LvmAdapter = {
    ...sandbox,
    async run(step) {
      ran.push(sandbox.commandOf(step));
      await sandbox.run(step);
    },
  };
  const deviceClasses = [
    { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 1 },
    { name: "thin", volumeGroup: "vg0", default: false, spareGiB: 0, thinPool: "pool", overprovision: 2.5 },
    { name: "gone", volumeGroup: "vg1", default: false, spareGiB: 0 },
  ];
  const systems: Systems = {
    volumes: { lvm, deviceClasses, protect: ["keep*"], lowSpacePercent: 10, close: async () => {} },
    close: () => lvm.close(),
  };
  return { lvm, systems, ran };
}

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const name = oneOf(
  ...["web", "db", "keep1", "origin", "snap", "pool", "new", "other", "third"],
  ...["", "-x", "pool_tmeta", "snapshot1"],
);
const place = { name, deviceClass: oneOf("", "", "thick", "thin", "thin", "gone", "none") };
const sizeBytes = oneOf(-1n, 0n, 1n, gib, 2n * gib + 1n, 4n * gib, 40n * gib).map(String);
const sizeGb = oneOf(0n, 1n, 2n, 3n, 4n, 8n, 40n, 1n << 34n).map(String);
const request = fc.oneof(
  fc
    .record({ ...place, sizeGb, tags: fc.array(oneOf("a", "b=1", "bad tag"), { maxLength: 2 }) })
    .map((json: JsonObject) => ({ method: LVService.method.createLV, json })),
  fc.record({ ...place, sizeGb }).map((json: JsonObject) => ({ method: LVService.method.resizeLV, json })),
  fc.record(place).map((json: JsonObject) => ({ method: LVService.method.removeLV, json })),
  fc
    .record({ ...place, source: name, spaceBytes: oneOf(0n, 1n, gib, 40n * gib, -1n).map(String) })
    .map((json: JsonObject) => ({ method: VolumeService.method.createSnapshot, json })),
  fc
    .record({ ...place, sizeBytes, tags: fc.array(oneOf("a", "bad tag"), { maxLength: 1 }) })
    .map((json: JsonObject) => ({ method: VolumeService.method.createVolume, json })),
  fc
    .record({ ...place, sizeBytes })
    .map((json: JsonObject) => ({ method: VolumeService.method.resizeVolume, json })),
  fc.record(place).map((json: JsonObject) => ({ method: VolumeService.method.deleteVolume, json })),
  fc.record({ name, source: name, sizeBytes }).map((json: JsonObject) => ({
    method: VolumeService.method.cloneVolume,
    json: { ...json, deviceClass: "thin" },
  })),
  fc
    .record({ ...place, newName: name })
    .map((json: JsonObject) => ({ method: VolumeService.method.renameVolume, json })),
  fc
    .record({ ...place, tags: fc.array(oneOf("a", "b=1", "bad tag"), { maxLength: 2 }) })
    .map((json: JsonObject) => ({ method: VolumeService.method.setVolumeTags, json })),
);

const removals = new Set<DescMethod>([LVService.method.removeLV, VolumeService.method.deleteVolume]);

/** Returns the refusal of a call or a plan; undefined when it succeeds. */
async function refusalOf(
  ending: Promise<unknown>,
): Promise<Pick<InfraError, "reason" | "resource" | "violations"> | undefined> {
  try {
    await ending;
    return undefined;
  } catch (error) {
    if (error instanceof InfraError) {
      const { reason, resource, violations } = error;
      return { reason, resource, violations };
    }
    throw error;
  }
}

test("a plan changes nothing, and the next call ends as planned and runs the planned commands", async (t) => {
  const reasons = new Set<unknown>();
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 12 }), async (requests) => {
      const { lvm, systems, ran } = createBusySystems();
      const { plan, call } = await createPlanUnderTest(systems);
      for (const { method, json } of requests) {
        const { value: before } = await lvm.read();
        const planning = plan({ method: methodPathOf(method), request: { case: "json", value: json } });
        const plannedRefusal = await refusalOf(planning);
        assert.deepEqual((await lvm.read()).value, before);
        assert.deepEqual(ran, []);
        const refusal = await refusalOf(call(method, json));
        assert.deepEqual(plannedRefusal, refusal);
        reasons.add(refusal?.reason);
        const commands = ran.splice(0);
        if (refusal !== undefined) {
          continue;
        }
        const { steps, changes, losses } = await planning;
        const planned = steps.map(({ command }) => command);
        assert.deepEqual(commands, planned);
        const { value: after } = await lvm.read();
        assert.equal(isDeepStrictEqual(after, before), steps.length === 0);
        assert.equal(changes.length === 0, steps.length === 0);
        assert.ok(losses.length === 0 || removals.has(method));
      }
      await systems.close();
    }),
    { numRuns: 300 },
  );
  const met = [undefined, "INVALID_FIELD", "VOLUME_EXISTS", "NO_SPACE", "VOLUME_NOT_FOUND", "VOLUME_IN_USE"];
  for (const reason of [...met, "VOLUME_PROTECTED", "SHRINK_NOT_ALLOWED", "VOLUME_GROUP_GONE"]) {
    t.ok(reasons.has(reason), `${reason} occurred`);
  }
});
