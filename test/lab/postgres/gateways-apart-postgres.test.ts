import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { createMemberProcess } from "../../chaos/fleet/member-process.ts";
import { startGatewayUnderTest } from "../../server/harness/gateway-under-test.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

/** Systems of a host. Nothing is behind them: the tests are about starts. */
const volumes = {
  deviceClasses: [{ name: "ssd", volumeGroup: "hostplane-none", default: true }],
  lvm: { command: ["/nonexistent/lvm"] },
};
const hub = { hub: { listen: "127.0.0.1:0" } };

async function createSharedSettings(t: Test): Promise<{ readonly store: string; readonly keyFile: string }> {
  const postgres = await startPostgres(t);
  const keyFile = join(await makeDirectory(t), "key");
  writeFileSync(keyFile, randomBytes(32).toString("base64"), { mode: 0o600 });
  return { store: await postgres.createDatabase(), keyFile };
}

test("a gateway with systems of its host shares its PostgreSQL with no other gateway", {
  skip,
  timeout: 120_000,
}, async (t) => {
  const shared = await createSharedSettings(t);
  const start = (host: string, settings: Record<string, unknown>) =>
    startGatewayUnderTest(t, { ...shared, host, ...settings }, { isReal: true });
  const refusal = (names: string, what: string) => ({
    reason: "STORE_IN_USE",
    message: new RegExp(`is used by the ${names}, and ${what}.*docs/how-to/move-to-a-fleet\\.md`),
  });

  const first = await start("node-1", { volumes });
  await t.rejects(
    start("node-2", { volumes }),
    refusal(
      "gateway node-1 \\(127\\.0\\.0\\.1\\)",
      "this gateway \\(node-2\\) serves volumes of its own host",
    ),
  );
  await t.rejects(
    start("hub-1", { fleet: hub }),
    refusal("gateway node-1 \\(127\\.0\\.0\\.1\\)", "that one serves systems of its own host"),
  );
  await first.gateway.close();

  const hubs = await Promise.all([start("hub-1", { fleet: hub }), start("hub-2", { fleet: hub })]);
  await t.rejects(
    start("node-2", { volumes }),
    refusal("gateways hub-1 .*, hub-2 \\(127\\.0\\.0\\.1\\)", "this gateway"),
  );
  await Promise.all(hubs.map(({ gateway }) => gateway.close()));
  await t.resolves(start("node-2", { volumes }));
});

test("a gateway on PostgreSQL that was killed starts again, also under another host name", {
  skip,
  timeout: 120_000,
}, async (t) => {
  const shared = await createSharedSettings(t);
  const directory = await makeDirectory(t);
  for (const host of ["node-1", "node-1", "node-2"]) {
    const gateway = createMemberProcess(t, directory, { ...shared, host, volumes }, { isReal: true });
    await t.resolves(gateway.start());
    await gateway.kill();
  }
});
