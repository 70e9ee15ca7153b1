import { join } from "node:path";
import { test } from "tap";
import { isLongForm } from "../../long-form.ts";
import { createGrpcEcho, createGrpcStream, createJsonEcho } from "../echo/echo.ts";
import { createFanOut, type FanOutServer } from "../fan-out/fan-out.ts";
import { createGrpcVolumeList, createJsonVolumeList } from "../volume-list/volume-list.ts";
import { startBenchProcess } from "./bench-process.ts";

test("a process answers known questions, rejects unknown ones, and ends when it is stopped", async (t) => {
  const file = join(import.meta.dirname, "../fan-out/bare-server.ts");
  const server = await startBenchProcess<FanOutServer & { unknown: () => void }>(file);
  t.ok((await server.query("target")).port > 0);
  t.ok((await server.query("cpuMs")) > 0);
  await t.rejects(server.query("unknown"), /unknown question "unknown"/);
  await server.stop();
  await t.rejects(server.query("target"), /has ended/);
});

test("fan-out: both sides reach every subscriber, and have a cost", { skip: !isLongForm }, async (t) => {
  const run = await createFanOut({ subscribers: 12, connections: 3, events: 5 }).start();
  try {
    for (const side of [run.baseline, run.ours]) {
      t.ok((await side.measure()) > 0);
      t.ok((await side.measure()) > 0, "again");
    }
  } finally {
    await run.stop();
  }
});

for (const bench of [
  createGrpcEcho(20),
  createJsonEcho(20),
  createGrpcStream(2),
  createGrpcVolumeList(20),
  createJsonVolumeList(20),
]) {
  const skip = !isLongForm || ((await bench.skipReason?.()) ?? false);
  test(`${bench.name}: both sides answer every call, and have a figure`, { skip }, async (t) => {
    const run = await bench.start();
    try {
      t.ok((await run.baseline.measure()) > 0);
      t.ok((await run.ours.measure()) > 0);
    } finally {
      await run.stop();
    }
  });
}
