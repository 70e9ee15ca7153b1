import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { openExportedKeys } from "../../../server/backups/exported-keys.ts";
import { createRepositoryKeys } from "../../../server/backups/repository-keys.ts";
import { masterKeysFromText } from "../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../server/crypto/seal.ts";
import { exportKeys } from "../../../server/gateway/export-keys.ts";
import { openOwnStore } from "../store/own-store.ts";
import { makeDirectory } from "../store/store-under-test.ts";

test("the keys of all repositories are exported under a second key", async (t) => {
  const [master, second] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
  const masterKeys = masterKeysFromText(master, "the master key");
  const store = await openOwnStore(t);
  const keys = createRepositoryKeys(store, createSeal(masterKeys, "repository-key"));
  const places = ["/srv/backup", "/srv/archive"].map((path) => ({ kind: "local", path }) as const);
  const names = [];
  for (const place of places) {
    names.push(await keys.ensure(place));
  }
  const file = join(await makeDirectory(t), "second");
  writeFileSync(file, `${second}\n`, { mode: 0o600 });
  const { count, text } = await exportKeys({ store, masterKeys }, file);
  t.equal(count, 2);
  t.same(
    new Set(
      openExportedKeys(text, masterKeysFromText(second, file)).map(({ name, key }) => `${name} ${key}`),
    ),
    new Set(await Promise.all(names.map(async (name) => `${name} ${await keys.open(name)}`))),
  );

  const refused = (path: string, message: RegExp) =>
    t.rejects(exportKeys({ store, masterKeys }, path), { reason: "INVALID_FIELD", message });
  await refused("second", /key-file: must be an absolute path, got "second"/);
  await refused(`${file}-missing`, /the key file .*-missing does not exist/);
  writeFileSync(file, master);
  await refused(file, /is a master key of this gateway; expected another key/);
  writeFileSync(file, master.slice(1));
  await refused(file, /expected 32 bytes in base64/);
});
