import { type Test, test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { libvirtReasons } from "../../../../../adapters/libvirt/reasons.ts";
import { StoragePoolService } from "../../../../../gen/hostplane/v1/storage_pool_pb.ts";
import { OperationState, OperationsService } from "../../../../../gen/operations/v1/operations_pb.ts";
import { createStoragePoolService } from "../../../../../server/domains/hypervisors/pool/service.ts";
import { reasonOf } from "../../../../adapters/host/reason-of.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import {
  createPoolGateway,
  createPoolLvm,
  devicesOf,
  gib,
  type PoolGatewayOptions,
} from "./pool-under-test.ts";

async function createSubject(t: Test, options: Partial<PoolGatewayOptions> = {}, moveMs = 0) {
  const lvm = createPoolLvm(moveMs);
  const gateway = await createPoolGateway(t, { lvm, store: await openOwnStore(t), ...options });
  const end = (id: string) => gateway.operations.ended(id, AbortSignal.timeout(60_000));
  return { ...gateway, lvm, end };
}

test("the pool grows by spare devices and shrinks by emptied ones", async (t) => {
  const { expand, shrink, end, lvm } = await createSubject(t);
  const grown = await end((await expand(8n * gib)).id);
  t.match(grown, {
    kind: "storagePool.expand",
    resource: "storagePool",
    state: "completed",
    result: { devices: ["/dev/sandbox/b"], bytes: String(10n * gib) },
  });
  t.strictSame((await devicesOf(lvm)).pool, ["/dev/sandbox/a", "/dev/sandbox/b"]);

  // Both have 10 GiB: the one without data is removed.
  const shrunk = await end((await shrink(10n * gib)).id);
  t.match(shrunk, { state: "completed", result: { devices: ["/dev/sandbox/b"], bytes: String(10n * gib) } });

  await end((await expand(20n * gib)).id);
  const moved = await end((await shrink(15n * gib)).id);
  t.match(moved, { state: "completed", result: { devices: ["/dev/sandbox/a"] } });
  t.match(moved.steps, [
    { name: "choose" },
    { name: "reserve" },
    { name: "move", state: "done" },
    { name: "remove" },
    { name: "refresh" },
  ]);
  t.strictSame(await devicesOf(lvm), { pool: ["/dev/sandbox/c"], marked: [], closed: [] });
  const { volumes } = (await lvm.read()).value;
  t.match(volumes, [{ name: "data", open: true }], "it was in use all the time");
});

test("impossible changes are rejected before an operation begins", async (t) => {
  const { changes, expand, shrink, call, operations } = await createSubject(t);
  t.equal(await reasonOf(expand(36n * gib)), "POOL_CANNOT_GROW");
  t.equal(await reasonOf(shrink(gib)), "POOL_CANNOT_SHRINK");
  for (const bytes of [0n, -1n]) {
    await t.rejects(expand(bytes), {
      reason: "INVALID_FIELD",
      message: /^min_bytes: .*9223372036854775807/,
    });
    await t.rejects(shrink(bytes), { reason: "INVALID_FIELD", message: /^max_bytes: / });
    t.equal(
      await reasonOf(changes.expandStoragePool.plan({ minBytes: bytes } as never, call())),
      "INVALID_FIELD",
    );
  }
  const { operations: kept } = await operations.list({}, { belowSeq: undefined, limit: 10 });
  t.strictSame(kept, []);
});

test("an equal request joins the operation in progress; a different one waits for it", async (t) => {
  const { expand, shrink, end, lvm } = await createSubject(t, {}, 500);
  await end((await expand(20n * gib)).id);
  const first = await shrink(10n * gib);
  const again = await shrink(10n * gib);
  t.equal(again.id, first.id);
  const other = await expand(gib);
  t.not(other.id, first.id);
  t.match(await end(other.id), { state: "completed" });
  t.match(await end(first.id), { state: "completed" });
  t.strictSame((await devicesOf(lvm)).pool, ["/dev/sandbox/c", "/dev/sandbox/d"]);
  const later = await expand(gib);
  t.not(later.id, other.id, "after the end a new operation begins");
});

async function collect<Message>(stream: AsyncIterable<Message>): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const message of stream) {
    messages.push(message);
  }
  return messages;
}

test("ExpandStorage and ShrinkStorage report the same operations as streams", async (t) => {
  const { published, call, lvm } = await createSubject(t, {}, 50);
  const { expandStorage, shrinkStorage } = OperationsService.method;
  const requested = call(expandStorage);
  const grown = await collect(published.expandStorage.run({ minBytes: 1_000_000 } as never, requested));
  t.match(grown.at(-1), {
    state: OperationState.COMPLETED,
    msg: "pool has grown by 5 GiB (5368709120 bytes) on /dev/sandbox/d",
  });
  t.ok(requested.operationId(), "the header names the operation");
  t.match((await devicesOf(lvm)).pool, ["/dev/sandbox/a", "/dev/sandbox/d"]);
  const shrinks = () =>
    published.shrinkStorage.run({ maxBytes: 2_147_483_647 } as never, call(shrinkStorage));
  t.equal(await reasonOf(collect(shrinks())), "POOL_CANNOT_SHRINK", "the smallest device has 5 GiB");
  for (const minBytes of [0, -5]) {
    await t.rejects(collect(published.expandStorage.run({ minBytes } as never, requested)), {
      reason: "INVALID_FIELD",
      message: /^min_bytes: must be from 1 to 2147483647 bytes.*StoragePoolService/,
    });
  }
});

test("a cancelled move leaves the device in the pool, open to new data", async (t) => {
  const { expand, shrink, end, lvm, operations } = await createSubject(t, {}, 60_000);
  await end((await expand(20n * gib)).id);
  const { id } = await shrink(10n * gib);
  const deadlineMs = performance.now() + 30_000;
  while ((await operations.get(id)).step !== "move" && performance.now() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  t.match((await devicesOf(lvm)).closed, ["/dev/sandbox/a"]);
  await operations.cancel(id);
  t.match(await end(id), { state: "cancelled" });
  t.strictSame(await devicesOf(lvm), { pool: ["/dev/sandbox/a", "/dev/sandbox/c"], marked: [], closed: [] });
});

test("libvirt refreshes its pool afterwards; an error is reported, but is not a failure", async (t) => {
  const refreshed: string[] = [];
  let isAway = false;
  const libvirt = {
    commandOf: () => ["virStoragePoolRefresh", "images"],
    async run(step: { readonly kind: string }) {
      if (isAway) {
        throw new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "connection refused");
      }
      refreshed.push(step.kind);
    },
  };
  const { changes, expand, call, end } = await createSubject(t, {
    shownBy: { libvirt, libvirtPool: "images" },
  });
  t.match((await changes.expandStoragePool.plan({ minBytes: 1n } as never, call())).steps, [
    { name: "choose" },
    { name: "add" },
    { name: "refresh", command: ["virStoragePoolRefresh", "images"] },
  ]);
  t.match(await end((await expand(1n)).id), { result: { refreshFailure: "" } });
  t.strictSame(refreshed, ["refreshPool"]);
  isAway = true;
  const { state, result } = await end((await expand(1n)).id);
  t.equal(state, "completed");
  t.match(result, { refreshFailure: /images: connection refused; run `virsh pool-refresh images`/ });
});

test("Watch sends the pool at once, and after a change", async (t) => {
  const { shared, changes, expand, call, end } = await createSubject(t);
  const { handlerOf } = createStoragePoolService(shared.pool, changes);
  const { watchStoragePool } = StoragePoolService.method;
  const ending = new AbortController();
  const watch = handlerOf(watchStoragePool)({} as never, call(watchStoragePool, ending)) as AsyncIterable<{
    pool: { sizeBytes: bigint; devices: object[] };
  }>;
  const sizes: bigint[] = [];
  for await (const { pool } of watch) {
    sizes.push(pool.sizeBytes);
    if (sizes.length === 1) {
      await end((await expand(1n)).id);
    } else if (pool.sizeBytes === 15n * gib) {
      break;
    }
  }
  t.equal(sizes[0], 10n * gib);
  t.equal(sizes.at(-1), 15n * gib);
});

test("callers share one message, and watchers another, until the pool changes", async (t) => {
  const { shared, changes, expand, call, end } = await createSubject(t);
  const { handlerOf } = createStoragePoolService(shared.pool, changes);
  const { getStoragePool, watchStoragePool } = StoragePoolService.method;
  const get = () => handlerOf(getStoragePool)({}, call(getStoragePool)) as Promise<object>;
  const firstOfWatch = async () => {
    const ending = new AbortController();
    const messages = handlerOf(watchStoragePool)({}, call(watchStoragePool, ending)) as AsyncIterable<object>;
    for await (const message of messages) {
      return message;
    }
    return undefined;
  };
  const [requested, watched] = [await get(), await firstOfWatch()];
  t.equal(await get(), requested);
  t.equal(await firstOfWatch(), watched);
  await end((await expand(1n)).id);
  t.not(await get(), requested);
  t.not(await firstOfWatch(), watched);
});
