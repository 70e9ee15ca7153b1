import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { createStoreInspector } from "../../../server/cli/doctor/inspect-store.ts";
import { configSchema } from "../../../server/gateway/config/schema.ts";
import { startGateway } from "../../../server/gateway/start-gateway.ts";

/**
 * Starts a gateway on its own small file system, fills that, and frees the space again. Prints what it observed. Argument: the
 * mount point. Must run in its own mount namespace.
 */
const [directory = ""] = process.argv.slice(2);
execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", directory]);

const log: { readonly msg: string; readonly err?: unknown }[] = [];
const config = configSchema.parse({
  data: directory,
  listen: [{ address: "127.0.0.1:0" }],
  operations: { leaseMs: 1000 },
});
const gateway = await startGateway({
  config,
  isSandbox: true,
  version: "0.0.0-test",
  logger: pino({ level: "info" }, { write: (line: string) => log.push(JSON.parse(line)) }),
  secrets: { adminPassword: "the admin of a test" },
  onFatal: (error) => {
    throw error;
  },
});
const url = `http://${gateway.addresses[0]}`;
const headers = { authorization: `Bearer ${await gateway.sandboxToken()}` };
const readiness = async () => (await fetch(`${url}/readyz`)).status;
const metric = async (name: string) => {
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  return text.split("\n").find((line) => line.startsWith(`${name} `));
};
const inspect = () =>
  createStoreInspector({ ...config, data: join(directory, "sandbox") }, undefined).inspect();

async function untilReadiness(expected: number): Promise<void> {
  while ((await readiness()) !== expected) {
    await delay(100);
  }
}

const before = { readyz: await readiness(), writable: await metric("hostplane_store_writable") };

// As much as fits.
const fill = join(directory, "fill");
for (let bytes = 1 << 22; bytes >= 1; bytes /= 2) {
  for (let isRoom = true; isRoom; ) {
    try {
      writeFileSync(fill, Buffer.alloc(bytes), { flag: "a" });
    } catch {
      isRoom = false;
    }
  }
}
await untilReadiness(503);
// Until the log of the database is full as well.
while ((await metric("hostplane_store_writable")) !== "hostplane_store_writable 0") {
  await fetch(`${url}/services.auth.AuthService/Login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "nobody", password: "a wrong password" }),
  });
  await delay(20);
}
const loggedBefore = log.length;
await delay(5_000);
const full = {
  lines: log.slice(loggedBefore).map(({ msg }) => msg),
  reported: log.map(({ msg }) => msg).filter((msg) => msg.startsWith("the store cannot be written")),
  free: await metric("hostplane_store_disk_free_bytes"),
  findings: (await inspect()).findings,
};

rmSync(fill);
await untilReadiness(200);
const after = { writable: await metric("hostplane_store_writable"), findings: (await inspect()).findings };
await gateway.close();
process.stdout.write(JSON.stringify({ before, full, after }));
