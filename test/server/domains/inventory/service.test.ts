import { setTimeout as wait } from "node:timers/promises";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { libvirtReasons } from "../../../../adapters/libvirt/reasons.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import {
  InventoryService,
  type ListResourcesResponse,
  type ResourceFilterSchema,
  type WatchResourcesResponse,
} from "../../../../gen/hostplane/v1/inventory_pb.ts";
import { readInventory } from "../../../../server/domains/inventory/read-inventory.ts";
import { createInventoryService } from "../../../../server/domains/inventory/service.ts";
import { anonymous, type Caller } from "../../../../server/rpc/call/caller.ts";
import { startAppUnderTest } from "../../harness/app-under-test.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { createSourceUnderTest, resource } from "./resources.ts";

type ResourceFilterInit = MessageInitShape<typeof ResourceFilterSchema>;

const viewer: Caller = { ...anonymous, role: "viewer", services: undefined, current: () => viewer };
const unavailable = new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "podman does not answer");

test("a domain that cannot be read contributes its problem beside the others' rows", async (t) => {
  const volumes = createSourceUnderTest("volumes", [resource("v1")]);
  const pods = createSourceUnderTest("pods", []);
  pods.fail(unavailable);
  const stale = createSourceUnderTest("hypervisors", []);
  stale.set([resource("h1")], new InfraError(libvirtReasons.LIBVIRT_UNAVAILABLE, "libvirt is gone"));
  const { url } = await startAppUnderTest(t, [createInventoryService([volumes, pods, stale])]);
  const client = createClient(InventoryService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  const { resources, problems } = await client.listResources({});
  t.same(
    resources.map(({ name, readTime }) => [name, readTime !== undefined]),
    [
      ["h1", false],
      ["v1", true],
    ],
  );
  t.same(
    problems.map(({ domain, reason, message }) => [domain, reason, message]),
    [
      ["pods", "PODMAN_UNAVAILABLE", "podman does not answer"],
      ["hypervisors", "LIBVIRT_UNAVAILABLE", "libvirt is gone"],
    ],
  );
});

test("a domain that hangs delays the others no longer than its time limit", async (t) => {
  const volumes = createSourceUnderTest("volumes", [resource("v1")]);
  const pods = createSourceUnderTest("pods", []);
  pods.hang();
  // The timer of AbortSignal.timeout does not keep a process.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  const parts = await readInventory([volumes, pods], new AbortController().signal, 50);
  t.equal(parts.flatMap(({ rows }) => rows).length, 1);
  t.match(
    parts.flatMap(({ problems }) => problems),
    [{ domain: "pods", reason: "DEADLINE" }],
  );
  const leaving = new AbortController();
  const reading = readInventory([pods], leaving.signal, 60_000);
  leaving.abort(new Error("left"));
  await t.rejects(reading, { message: "left" }, "a caller that leaves gets no problem for an answer");
  pods.fail(new TypeError("a fault"));
  await t.rejects(readInventory([pods], new AbortController().signal), { message: "a fault" });
});

test("a watch sends the whole state first, then what has changed, and ends its subscriptions", async (t) => {
  const many = Array.from({ length: 501 }, (_, index) => resource(`v${String(index).padStart(3, "0")}`));
  const volumes = createSourceUnderTest("volumes", many);
  const pods = createSourceUnderTest("pods", [resource("p1", { type: "pod" })]);
  const { url } = await startAppUnderTest(t, [createInventoryService([volumes, pods])]);
  const client = createClient(InventoryService, createGrpcTransport({ baseUrl: url }));
  const leaving = new AbortController();
  const stream = client.watchResources({ filter: { types: ["volume"] } }, { signal: leaving.signal });
  const messages = stream[Symbol.asyncIterator]();
  const next = async () => (await messages.next()).value as WatchResourcesResponse;
  const first = await next();
  t.equal(first.synced, false);
  const second = await next();
  t.equal(second.synced, true);
  t.equal(first.changed.length + second.changed.length, 501, "without the pod");

  volumes.set([...many.slice(2), resource("v001", { state: "inactive" }), resource("v999")]);
  const third = await next();
  t.same(
    third.changed.map(({ name, state }) => [name, state]),
    [
      ["v001", "inactive"],
      ["v999", "active"],
    ],
  );
  t.same(third.removed, ["v000"]);

  pods.fail(unavailable);
  t.match(await next(), { changed: [], removed: [], problems: [{ domain: "pods" }], synced: true });
  pods.set([]);
  t.match(await next(), { changed: [], removed: [], problems: [], synced: true });

  leaving.abort();
  while (volumes.subscriberCount() + pods.subscriberCount() > 0) {
    await wait(5);
  }
  t.pass("nothing is subscribed");
});

test("a watch divides large resources among messages that every client accepts", async (t) => {
  const large = Array.from({ length: 100 }, (_, index) =>
    resource(`v${index}`, { labels: { text: "x".repeat(60_000) } }),
  );
  const { url } = await startAppUnderTest(t, [
    createInventoryService([createSourceUnderTest("volumes", large)]),
  ]);
  const client = createClient(InventoryService, createGrpcTransport({ baseUrl: url }));
  const leaving = new AbortController();
  const names: string[] = [];
  for await (const { changed, synced } of client.watchResources({}, { signal: leaving.signal })) {
    names.push(...changed.map(({ name }) => name));
    if (synced) {
      break;
    }
  }
  leaving.abort();
  t.equal(new Set(names).size, 100);
});

test("only sources that the filter and the caller's services select are read and subscribed to", async (t) => {
  const volumes = createSourceUnderTest("volumes", [resource("v1")], ["proto.VGService"]);
  const pods = createSourceUnderTest("pods", [], ["hostplane.v1.PodService"]);
  pods.fail(unavailable);
  const service = createInventoryService([volumes, pods]);
  const { listResources, watchResources } = InventoryService.method;

  async function list(filter: ResourceFilterInit, services?: ReadonlySet<string>) {
    const call = createCall({ method: listResources, peer: { services } });
    call.identify(viewer);
    const request = create(listResources.input, { filter });
    return (await service.handlerOf(listResources)(request, call)) as ListResourcesResponse;
  }

  t.equal((await list({})).problems.length, 1);
  t.match(await list({ domains: ["volumes"] }), { resources: [{ name: "v1" }], problems: [] });
  const onlyPods = await list({}, new Set(["hostplane.v1.PodService"]));
  t.match(onlyPods, { resources: [], problems: [{ domain: "pods" }] });

  const leaving = new AbortController();
  const call = createCall({ method: watchResources, ending: leaving });
  call.identify(viewer);
  const request = create(watchResources.input, { filter: { domains: ["volumes"] } });
  const stream = service.handlerOf(watchResources)(request, call) as AsyncGenerator<object>;
  await stream.next();
  t.equal(volumes.subscriberCount(), 1);
  t.equal(pods.subscriberCount(), 0);
  leaving.abort();
  await stream.next().catch(() => {});
  t.equal(volumes.subscriberCount(), 0);
});
