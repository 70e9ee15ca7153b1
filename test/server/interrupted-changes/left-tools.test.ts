import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { defaultKeyFile } from "../../../server/crypto/key-file.ts";
import { loadMasterKeys } from "../../../server/crypto/master-keys.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { rpcErrorFrom } from "../harness/rpc-error.ts";
import { standInLvm } from "../observability/stand-in-lvm.ts";

const skip = process.platform !== "linux" && "it needs proc(5)";

/**
 * Starts a changing `sh -c script` as a gateway with this master key does, and kills that gateway once the file `started` exists.
 */
async function leaveTool(owner: string, script: string, started: string): Promise<void> {
  const adapter = (file: string) =>
    JSON.stringify(new URL(`../../../adapters/host/process/${file}.ts`, import.meta.url).href);
  const code = `
    const [{ run }, { setToolOwner }] = [await import(${adapter("run")}), await import(${adapter("tool-mark")})];
    setToolOwner("${owner}");
    await run(${JSON.stringify(["sh", "-c", `touch ${started}; ${script}`])}, { kind: "mutate" });`;
  const gateway = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "inherit" });
  const ended = once(gateway, "exit");
  while (!existsSync(started)) {
    await sleep(10);
  }
  gateway.kill("SIGKILL");
  await ended;
}

/** Starts a gateway whose predecessor left an lvcreate of `data` running, which continues once the file `go` exists. */
async function startAfterLvcreate(t: Test) {
  const { volumes } = await standInLvm(t);
  const here = dirname(volumes.lvm.command[0] ?? "");
  const data = join(here, "data");
  mkdirSync(data);
  const go = join(here, "go");
  t.teardown(() => writeFileSync(go, ""));
  const { current } = loadMasterKeys({
    environmentKey: undefined,
    keyFile: undefined,
    defaultFile: defaultKeyFile(data),
    isStoreNew: true,
  });
  const lvcreate = `while [ ! -e ${go} ] && [ -d ${here} ]; do sleep 0.05; done; mv ${here}/report-after ${here}/report; touch ${here}/backup/vg0`;
  await leaveTool(current.fingerprint, lvcreate, join(here, "started"));
  const { url, gateway, log } = await startGatewayUnderTest(t, { data, volumes });
  const client = createClient(LVService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  const created = client.createLV({ name: "data", sizeGb: 1n }).then(() => "created", rpcErrorFrom);
  return { gateway, log, go, created };
}

test("a change of a volume waits for an lvm that an earlier gateway left running", { skip }, async (t) => {
  const { log, go, created } = await startAfterLvcreate(t);
  const early = await Promise.race([created, sleep(1_500, "waits")]);
  t.equal(early, "waits");
  t.ok(log.some(({ msg }) => msg === "changes of volumes wait for tools that an earlier gateway started"));
  writeFileSync(go, "");
  t.match(await created, { reason: "VOLUME_EXISTS" }, "it sees what that lvm has created");
});

test("a stopped gateway does not start a change that still waits for such an lvm", { skip }, async (t) => {
  const { gateway, log, created } = await startAfterLvcreate(t);
  t.equal(await Promise.race([created, sleep(300, "waits")]), "waits");
  await gateway.close();
  t.match(await created, { reason: "SHUTTING_DOWN" });
  const lvcreate = log.filter(({ tool }) => JSON.stringify(tool)?.includes("lvcreate"));
  t.same(lvcreate, []);
});
