import fc from "fast-check";
import { test } from "tap";
import { assertTags } from "../../../../../../adapters/restic/names.ts";
import {
  storedVolumeFrom,
  tagsOfVolume,
} from "../../../../../../server/domains/hypervisors/pool/backups/stored-marks.ts";
import { codePoint } from "../../../../../code-point.ts";

const snapshot = { id: "4bd2c3f1", atMs: 1, hostname: "alpha", fileName: "a volume" };

test("the tags of a snapshot can be parsed again for any volume name", async (t) => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 255, unit: codePoint }),
      fc.uuid(),
      fc.maxSafeNat(),
      fc.maxSafeNat(),
      (volume, backupId, atMs, sizeBytes) => {
        const marks = { backupId, atMs, sizeBytes };
        const tags = tagsOfVolume({
          ...marks,
          operationId: "op",
          name: "pool-1",
          poolName: "images",
          volume,
        });
        assertTags(tags, "tags");
        t.strictSame(storedVolumeFrom({ ...snapshot, tags }), { ...marks, snapshotId: "4bd2c3f1" });
      },
    ),
  );
});

test("foreign snapshots are not parsed as volumes of the pool", async (t) => {
  fc.assert(
    fc.property(fc.array(fc.string()), (tags) => storedVolumeFrom({ ...snapshot, tags }) === undefined),
  );
  const tags = ["hostplane", "backup=x", "operation=y", "volume=vg0/data", "name=monday"];
  t.equal(storedVolumeFrom({ ...snapshot, tags }), undefined, "a snapshot of a device class's volume");
});
