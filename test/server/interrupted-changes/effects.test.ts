import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { registerService } from "../../../server/rpc/call/service-handlers.ts";
import { startAppUnderTest } from "../harness/app-under-test.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { rpcErrorFrom } from "../harness/rpc-error.ts";
import { standInLvm } from "../observability/stand-in-lvm.ts";

/** Starts a gateway with an LVM whose `lvcreate` runs the shell lines, and counts its runs. */
async function startWithLvcreate(t: Test, lines: string) {
  const { volumes } = await standInLvm(t);
  const [program = ""] = volumes.lvm.command;
  const script = await readFile(program, "utf8");
  const replaced = script.replace(/lvcreate\) .*;;/, `lvcreate) echo run >> "$here/runs"; ${lines} ;;`);
  await writeFile(program, replaced);
  const { url } = await startGatewayUnderTest(t, { volumes });
  const client = createClient(LVService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  let headers = new Headers();
  const create = (key: string) =>
    client.createLV(
      { name: "data", sizeGb: 1n },
      { headers: { "idempotency-key": key }, onHeader: (answered) => (headers = answered) },
    );
  return {
    create,
    failure: (key: string) => create(key).then(() => t.fail("it succeeded") as never, failureFrom),
    isReplay: () => headers.get("hostplane-idempotent-replay") === "true",
    runs: async () =>
      (await readFile(join(dirname(program), "runs"), "utf8").catch(() => "")).split("\n").length - 1,
  };
}

function failureFrom(thrown: unknown) {
  const { code, reason, message } = rpcErrorFrom(thrown);
  const [info] = (
    thrown as { findDetails: (schema: typeof ErrorInfoSchema) => { metadata: object }[] }
  ).findDetails(ErrorInfoSchema);
  return { code, reason, message, ...info?.metadata };
}

test("a created volume is returned although LVM can no longer be read", async (t) => {
  const breakReads =
    'printf "#!/bin/sh\\nexit 5\\n" > "$here/lvm.new"; chmod 755 "$here/lvm.new"; mv "$here/lvm.new" "$0"';
  const gateway = await startWithLvcreate(t, breakReads);
  const { volume } = await gateway.create("a");
  t.match(volume, { name: "data", sizeGb: 1n });
  t.match(await gateway.create("a"), { volume: { name: "data", sizeGb: 1n } });
  t.ok(gateway.isReplay());
  t.equal(await gateway.runs(), 1);
});

test("a change that may have happened is not repeated for the same key", async (t) => {
  const gateway = await startWithLvcreate(t, "kill -9 $$");
  const first = await gateway.failure("a");
  t.match(first, { reason: "TOOL_FAILED", effect: "possible", retryable: "false" });
  t.same(await gateway.failure("a"), first);
  t.equal(await gateway.runs(), 1);
});

test("a refused change leaves its key free", async (t) => {
  const refuse =
    "echo '  Volume group \"vg0\" has insufficient free space (1 extents): 256 required.' >&2; exit 5";
  const gateway = await startWithLvcreate(t, refuse);
  for (const runs of [1, 2]) {
    t.match(await gateway.failure("a"), { reason: "NO_SPACE", effect: "none" });
    t.equal(await gateway.runs(), runs);
    t.notOk(gateway.isReplay());
  }
});

test("a caller whose deadline ends during a change learns that it may still happen", async (t) => {
  const held = Promise.withResolvers<Record<never, never>>();
  const hold = () => held.promise;
  const handlers = { createLV: hold, resizeLV: hold, createBackup: hold };
  const refuse = async () => {
    throw new InfraError(lvmReasons.VOLUME_PROTECTED, "it is protected");
  };
  const { url } = await startAppUnderTest(t, [registerService(LVService, { ...handlers, removeLV: refuse })]);
  const client = createClient(LVService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  const failed = (call: Promise<unknown>) => call.then(() => t.fail("it succeeded") as never, failureFrom);
  const options = { headers: { "connect-timeout-ms": "50" } };
  t.match(await failed(client.createLV({ name: "data" }, options)), {
    reason: "DEADLINE",
    effect: "possible",
  });
  const unknown = { headers: { "hostplane-nonsense": "1" } };
  t.match(await failed(client.createLV({}, unknown)), { reason: "UNKNOWN_HEADER", effect: "none" });
  t.match(await failed(client.removeLV({})), { reason: "VOLUME_PROTECTED", effect: "none" });
  held.resolve({});
});
