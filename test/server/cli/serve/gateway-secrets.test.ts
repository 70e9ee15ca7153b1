import { join } from "node:path";
import { test } from "tap";
import { gatewaySecrets } from "../../../../server/cli/serve/gateway-secrets.ts";

test("the first admin's password comes from a variable or a file", async (t) => {
  const directory = t.testdir({ password: "correct horse\n" });
  const file = join(directory, "password");
  t.same(gatewaySecrets({}), { key: undefined, adminPassword: undefined });
  t.same(gatewaySecrets({ HOSTPLANE_KEY: "k", HOSTPLANE_ADMIN_PASSWORD: "of a variable" }), {
    key: "k",
    adminPassword: "of a variable",
  });
  t.same(gatewaySecrets({ HOSTPLANE_ADMIN_PASSWORD_FILE: file }).adminPassword, "correct horse");
  t.throws(
    () => gatewaySecrets({ HOSTPLANE_ADMIN_PASSWORD: "x", HOSTPLANE_ADMIN_PASSWORD_FILE: file }),
    /not both/,
  );
  t.throws(() => gatewaySecrets({ HOSTPLANE_ADMIN_PASSWORD_FILE: `${file}.gone` }), /cannot read/);
});
