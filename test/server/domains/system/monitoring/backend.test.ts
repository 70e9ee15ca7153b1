import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { createStoreBackend } from "../../../../../server/domains/system/monitoring/backend.ts";
import { storeReasons } from "../../../../../server/store/reasons.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { startGatewayUnderTest } from "../../../harness/gateway-under-test.ts";

function storeThat(run: () => Promise<unknown>): Pick<Store, "run" | "isShared"> {
  return { isShared: true, run: run as Store["run"] };
}

test("the store of a gateway answers, and makes it ready", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const response = await fetch(`${url}/readyz`);
  t.equal(response.status, 200);
  const { status, systems } = (await response.json()) as { status: string; systems: { system: string }[] };
  t.equal(status, "ready");
  t.match(
    systems.find(({ system }) => system === "sqlite"),
    { domain: "system", kind: "sandbox", health: "ok" },
  );
});

test("a store that cannot be reached is unavailable, with the reason", async (t) => {
  const down = new InfraError(storeReasons.STORE_UNAVAILABLE, "the database does not answer");
  const backend = createStoreBackend({
    store: storeThat(() => Promise.reject(down)),
    kind: "real",
    services: ["a.Service"],
  });
  t.match(await backend.status(), { health: "unavailable", missing: [down.message] });
  t.match(backend, { domain: "system", name: "postgresql", kind: "real", services: ["a.Service"] });
});

test("a store that hangs is unavailable after two seconds", async (t) => {
  const backend = createStoreBackend({
    store: storeThat(() => new Promise(() => {})),
    kind: "real",
    services: [],
  });
  t.match(await backend.status(), { health: "unavailable", missing: [/has not answered for 2000 ms/] });
});

test("many concurrent status reads query the store once", async (t) => {
  let requestCount = 0;
  const store = storeThat(async () => {
    requestCount += 1;
    return { schemaVersion: 1 };
  });
  const backend = createStoreBackend({ store, kind: "real", services: [] });
  await Promise.all(Array.from({ length: 50 }, () => backend.status()));
  t.equal(requestCount, 1);
});

test("a watcher is called when the store goes down and comes back", async (t) => {
  let isUp = true;
  const store = storeThat(async () => {
    if (!isUp) {
      throw new InfraError(storeReasons.STORE_UNAVAILABLE, "gone");
    }
    return { schemaVersion: 1 };
  });
  const backend = createStoreBackend({ store, kind: "real", services: [] });
  const seen: string[] = [];
  const waiting: (() => void)[] = [];
  t.teardown(
    backend.subscribe(async () => {
      seen.push((await backend.status()).health);
      waiting.shift()?.();
    }),
  );
  for (const next of [true, false, true]) {
    const called = new Promise<void>((resolve) => waiting.push(resolve));
    isUp = next;
    await called;
  }
  t.same(seen, ["ok", "unavailable", "ok"]);
});
