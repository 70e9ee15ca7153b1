import { readFileSync } from "node:fs";
import { test } from "tap";
import { permissionFix } from "../../../../server/cli/doctor/permission-fix.ts";

test("missing permissions are distinguished from other errors, also as a cause", async (t) => {
  const denied = Object.assign(new Error("EACCES: permission denied, access '/data'"), { code: "EACCES" });
  const asUser = /as the gateway's user/;
  t.match(permissionFix(denied), asUser);
  t.match(permissionFix(new Error("the key file /data/key cannot be read", { cause: denied })), asUser);
  t.equal(permissionFix(new Error("the database is damaged")), undefined);
  t.equal(permissionFix("EACCES"), undefined);
  try {
    readFileSync(t.testdirName);
    t.fail("it does not exist");
  } catch (error) {
    t.equal(permissionFix(error), undefined, "ENOENT");
  }
});
