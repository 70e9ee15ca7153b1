import { test } from "tap";
import { listWhole } from "../../../../../../server/domains/hypervisors/pool/backups/backup-run.ts";

const holder = { identity: "pool", signal: new AbortController().signal };
const volumeOf = (name: string) => ({ name, sizeBytes: 1n, uuid: name }) as never;

test("a volume that a restore creates while the pool is listed is not whole", async (t) => {
  const beingRestored: string[] = [];
  const volumes = {
    async list() {
      beingRestored.push("restored");
      return [volumeOf("old"), volumeOf("restored")];
    },
  } as never;
  const whole = await listWhole({ volumes, namesBeingRestored: async () => [...beingRestored] }, holder);
  t.same(
    whole.map(({ name }) => name),
    ["old"],
  );
});

test("a volume whose restore ends while the pool is listed is left for the next list", async (t) => {
  const beingRestored = ["restored"];
  const volumes = {
    async list() {
      beingRestored.pop();
      return [volumeOf("old"), volumeOf("restored")];
    },
  } as never;
  const whole = await listWhole({ volumes, namesBeingRestored: async () => [...beingRestored] }, holder);
  t.same(
    whole.map(({ name }) => name),
    ["old"],
  );
});
