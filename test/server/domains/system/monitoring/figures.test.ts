import { test } from "tap";
import { createGatewayFigures } from "../../../../../server/domains/system/monitoring/figures.ts";

const { signal } = new AbortController();

test("rates are those of the time between two samples", async (t) => {
  let calls = 100;
  let storeBytes: number | undefined = 4096;
  const source = createGatewayFigures({
    callCount: () => calls,
    readStoreBytes: async () => {
      if (storeBytes === undefined) {
        throw new Error("the file is gone");
      }
      return storeBytes;
    },
  });
  const read = async () =>
    new Map(
      (await source.read(signal)).flatMap(({ figures }) => figures.map(({ name, value }) => [name, value])),
    );
  const startedAtMs = performance.now();
  const first = await read();
  t.same([...first.keys()], ["memory", "store"], "no rates without an earlier sample");
  t.equal(first.get("store"), 4096);
  t.ok((first.get("memory") ?? 0) > 1 << 20);
  calls += 1_000;
  storeBytes = undefined;
  let second = await read();
  while (!second.has("calls")) {
    // The event loop has not been measured yet.
    calls += 1_000;
    await new Promise((resolve) => setTimeout(resolve, 20));
    second = await read();
  }
  const elapsedS = (performance.now() - startedAtMs) / 1000;
  t.notOk(second.has("store"));
  t.ok((second.get("calls") ?? 0) >= 1_000 / elapsedS);
  t.ok((second.get("cpu") ?? -1) >= 0);
  t.ok((second.get("event_loop_lag") ?? -1) >= 0);
});
