import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import tap, { test } from "tap";
import { startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { until } from "../server/harness/until.ts";
import { startFrameCounter } from "./frame-counter.ts";
import { pythonEnvironment } from "./python/python-environment.ts";
import { runTool } from "./tool-process.ts";

tap.setTimeout(900_000);
const { path: python, skip } = await pythonEnvironment("grpcio");

const script = join(import.meta.dirname, "python/lvmd_client.py");
const protos = resolve(import.meta.dirname, "../../proto");

/** Runs steps of lvmd_client.py over one channel. @returns the result of each, by its name */
async function runSteps(target: string, ...steps: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runTool(python, [script, protos, target, ...steps]);
  if (code !== 0) {
    throw new Error(`lvmd_client.py ended with ${code}: ${stderr}`);
  }
  const lines = stdout.split("\n").filter((line) => line !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const { step, ...found } = JSON.parse(line) as { step: string };
      return [step, found];
    }),
  );
}

test("grpcio", { skip, timeout: 900_000 }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const socket = join(directory, "socket");
  const { gateway, url, log } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0" }, { address: `unix:${socket}` }],
  });
  const [address = ""] = gateway.addresses;

  for (const [index, target] of [address, `unix:${socket}`].entries()) {
    await t.test(`calls ${target === address ? "over TCP" : "over a unix socket"}`, async (t) => {
      t.same(await runSteps(target, "unary", "stream", "error", "precondition", "deadline", "cancel"), {
        unary: { created: 1, listed: 2, tags: ["from=python"], backend: "sandbox" },
        stream: { taken: 2 ** 30 },
        error: {
          code: "ALREADY_EXISTS",
          message: "sandbox-vg/sandbox-web already exists",
          details: ["VOLUME_EXISTS"],
        },
        precondition: {
          code: "FAILED_PRECONDITION",
          message: "Logical volume sandbox-vg/sandbox-db in use.",
          details: ["VOLUME_IN_USE", "google.rpc.PreconditionFailure"],
        },
        deadline: { received: true, code: "DEADLINE_EXCEEDED" },
        cancel: { code: "CANCELLED" },
      });
      // Whether the client or the gateway ends the watch at its deadline first is a race.
      const ends = () =>
        log.filter(({ rpc }) => rpc === "proto.VGService/Watch").map(({ code }) => String(code));
      // The gateway may learn of the last cancellation after the client has ended.
      await until(() => ends().length === 3 * (index + 1));
      t.match(ends().slice(-3), [/CANCELLED/, /CANCELLED|DEADLINE_EXCEEDED/, /CANCELLED/]);
    });
  }

  await t.test("compresses its requests with gzip", async (t) => {
    const { address, counts } = await startFrameCounter(t, url);
    const { gzip } = await runSteps(address, "gzip");
    t.match(gzip, { tags: 40 });
    const { request_bytes } = gzip as { request_bytes: number };
    t.ok(counts.clientBytes < request_bytes / 2, `${counts.clientBytes} bytes of ${request_bytes} were sent`);
  });

  await t.test("pings every second, with and without calls, and is not disconnected", async (t) => {
    const { address, counts } = await startFrameCounter(t, url);
    const { keepalive } = await runSteps(address, "keepalive", "unary");
    t.match(keepalive, { stream_open: true });
    const { states } = keepalive as { states: string[] };
    t.same(new Set(states), new Set(["READY"]));
    t.ok(counts.clientPings >= 4, `${counts.clientPings} pings`);
    t.equal(counts.serverFaults, 0);
  });
});
