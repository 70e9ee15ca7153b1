import { test } from "tap";
import { openOwnStore } from "../../../store/own-store.ts";
import { checkBackupAges } from "../backups/backup-ages.ts";

test("the metrics have the age of each volume's last good backup", async (t) => {
  await checkBackupAges(t, await openOwnStore(t));
});
