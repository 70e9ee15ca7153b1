import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { EventService } from "../../../../../../gen/hostplane/v1/event_pb.ts";
import { OperationService } from "../../../../../../gen/hostplane/v1/operation_pb.ts";
import { StoragePoolService } from "../../../../../../gen/hostplane/v1/storage_pool_pb.ts";
import { observedPoolChanges } from "../../../../../../server/domains/hypervisors/pool/events/observe-pool.ts";
import { startGatewayUnderTest } from "../../../../harness/gateway-under-test.ts";
import { makeDirectory } from "../../../../store/store-under-test.ts";
import { createPool, createPoolLvm, gib } from "../pool-under-test.ts";

test("changes of size and devices are published, changes of usage are not", async (t) => {
  const lvm = createPoolLvm();
  const pool = createPool(lvm);
  const origin = {
    host: "alpha",
    ownChangeOf: (effects: readonly string[]) =>
      effects.includes("grows") ? ({ operationId: "op-1", effect: "grows" } as const) : undefined,
  };
  const state = async () => (await pool.read(undefined, performance.now())).value;
  const first = observedPoolChanges(undefined, await state(), origin);
  t.strictSame(first.events, []);

  await lvm.run({ kind: "create", volumeGroupName: "pool", name: "more", sizeBytes: gib, tags: [] });
  const second = observedPoolChanges(first.observed, await state(), origin);
  t.strictSame(second.events, []);

  await pool.add((await state()).identity, ["/dev/sandbox/b", "/dev/sandbox/d"]);
  const third = observedPoolChanges(second.observed, await state(), origin);
  t.match(third.events, [
    {
      topic: "hypervisors",
      type: "storagePool.changed",
      resource: "storagePool",
      host: "alpha",
      operationId: "op-1",
      payload: {
        storagePool: {
          name: "pool",
          sizeBytes: String(25n * gib),
          previousSizeBytes: String(10n * gib),
          added: ["/dev/sandbox/b", "/dev/sandbox/d"],
          removed: [],
        },
      },
    },
  ]);
  t.strictSame(observedPoolChanges(third.observed, await state(), origin).events, []);
  t.strictSame(
    observedPoolChanges({ ...first.observed, identity: "another" }, await state(), origin).events,
    [],
  );
});

test("subscribers get an expansion and an immediate shrinkage, each with its own operation", async (t) => {
  const data = await makeDirectory(t);
  // The first sight of a pool yields no events, so another gateway reads it before.
  const { gateway } = await startGatewayUnderTest(t, { data });
  await gateway.close();

  const { url } = await startGatewayUnderTest(t, { data });
  const transport = createGrpcTransport({ baseUrl: url });
  const messages = createClient(EventService, transport)
    .subscribe({ topics: ["hypervisors"] }, { signal: AbortSignal.timeout(20_000) })
    [Symbol.asyncIterator]();
  await messages.next();
  const pool = createClient(StoragePoolService, transport);
  const expansion = await pool.expandStoragePool({ minBytes: gib });
  const operations = createClient(OperationService, transport);
  for await (const { operation } of operations.watchOperation({ id: expansion.operation?.id ?? "" })) {
    if (operation?.endedAt !== undefined) {
      break;
    }
  }
  const shrinking = await pool.shrinkStoragePool({ maxBytes: 2n * gib - 1n });
  const reported: unknown[] = [];
  while (reported.length < 2) {
    const { message } = (await messages.next()).value;
    if (message.case === "event" && message.value.type === "storagePool.changed") {
      reported.push(message.value);
    }
  }
  const [bytes64, bytes65] = [64n * gib, 65n * gib];
  const device = "/dev/sandbox/pool-b";
  const poolEvent = (operationId: string | undefined, value: object) => ({
    resource: "storagePool",
    operationId,
    sandbox: true,
    detail: { case: "storagePool", value: { name: "sandbox-pool", ...value } },
  });
  t.match(reported, [
    poolEvent(expansion.operation?.id, {
      previousSizeBytes: bytes64,
      sizeBytes: bytes65,
      added: [device],
      removed: [],
    }),
    poolEvent(shrinking.operation?.id, {
      previousSizeBytes: bytes65,
      sizeBytes: bytes64,
      added: [],
      removed: [device],
    }),
  ]);
});
