import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { until } from "../harness/until.ts";
import { makeDirectory } from "../store/store-under-test.ts";

test("a real gateway writes copies of its store on a schedule, and a sandbox does not", async (t) => {
  const directory = await makeDirectory(t);
  const settingsFor = (name: string) => ({ storeBackups: { directory: join(directory, name) } });
  const sandbox = await startGatewayUnderTest(t, settingsFor("of-sandbox"));
  const real = await startGatewayUnderTest(t, settingsFor("of-real"), { isReal: true });
  await until(() => real.log.some(({ msg }) => /^wrote the backup .* of the store$/.test(String(msg))));
  t.match(readdirSync(join(directory, "of-real")), [/^hostplane-\d{8}T0000Z\.db$/]);

  const age = /^hostplane_store_backup_age_seconds (\S+)$/m;
  const metricsOf = async ({ url }: { readonly url: string }) => (await fetch(`${url}/metrics`)).text();
  const seconds = Number(age.exec(await metricsOf(real))?.[1]);
  t.ok(seconds >= 0 && seconds < 2 * 24 * 3600, `age ${seconds} s`);
  t.notMatch(await metricsOf(sandbox), age);
  await sandbox.gateway.close();
  t.notOk(existsSync(join(directory, "of-sandbox")));
});
