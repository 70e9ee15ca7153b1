import { type DescMethod, type JsonObject, toJson } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import fc from "fast-check";
import { test } from "tap";
import { EventService, SubscribeResponseSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import { parseResourcePattern } from "../../../../server/rpc/access/resource-pattern.ts";
import { methodPathOf } from "../../../../server/rpc/call/method-rule.ts";
import { callMethod } from "../../harness/call-method.ts";
import { readContractServices } from "../../harness/contract-services.ts";
import { rpcErrorFrom } from "../../harness/rpc-error.ts";
import { until } from "../../harness/until.ts";
import { type GrantedCaller, startGrants } from "./grants-under-test.ts";

interface Named {
  readonly name: string;
  readonly title: string;
}

async function resourcesOf(caller: GrantedCaller, filter: JsonObject = {}): Promise<readonly Named[]> {
  const { body } = await caller.call("hostplane.v1.InventoryService/ListResources", {
    pageSize: 1000,
    filter,
  });
  return (body.resources ?? []) as readonly Named[];
}

const changes: readonly (readonly [string, JsonObject])[] = [
  ["proto.LVService/CreateLV", { name: "secret-1", sizeGb: "1" }],
  ["proto.LVService/ResizeLV", { name: "secret-1", sizeGb: "2" }],
  ["proto.LVService/CreateLV", { name: "secret-2", sizeGb: "1" }],
  ["proto.LVService/RemoveLV", { name: "secret-2" }],
  ["proto.LVService/CreateLV", { name: "db-1", sizeGb: "1" }],
  ["cnct.kaas.api.Cluster/DeleteCluster", { name: "secret-cluster" }],
  ["hostplane.v1.PlanService/CreatePlan", { method: "proto.LVService/RemoveLV", json: { name: "secret-1" } }],
];

test("nothing that a caller gets names a resource outside of its grants", async (t) => {
  const { admin, userWith, callerOf } = await startGrants(t);
  const grants = [{ role: "ROLE_OPERATOR", resources: ["volumeGroups/sandbox-vg/volumes/db-*"] }];
  const caller = await userWith("database", grants);
  const { body } = await admin.call("hostplane.v1.UserService/CreateApiToken", { name: "ci", grants });
  const program = callerOf(String(body.token));
  const follower = follow(caller);
  t.teardown(follower.leave);
  await follower.begun;
  for (const [method, request] of changes) {
    await admin.call(method, request);
  }
  const [pod] = await resourcesOf(admin, { types: ["pod"], states: ["running"] });
  const uuid = pod?.name.split("/").at(-1) ?? "";
  const { body: stopped } = await admin.call("hostplane.v1.PodService/StopPod", { pod: uuid });
  const operation = String((stopped.operation as { readonly id: string }).id);

  const all = await resourcesOf(admin);
  const granted = parseResourcePattern("volumeGroups/sandbox-vg/volumes/db-*");
  const hidden = all
    .filter(({ name }) => !granted.covers(name) && !granted.mayCoverBelow(name))
    .flatMap(({ name }) => [name, name.split("/").at(-1) ?? ""])
    // Not the name of the only storage pool, nor a word that methods use as well.
    .filter((word) => word.length > 3 && /[-\d]/.test(word));
  t.ok(hidden.length > 20, "the sandbox has much to hide");
  const secrets = [...hidden, "secret-1", "secret-2", operation];
  const assertHidden = (text: string, what: string) => {
    const leaked = secrets.filter((secret) => text.includes(secret));
    t.same(leaked, [], what);
  };

  for (const [index, one] of [caller, program].entries()) {
    const transport = one.transport();
    for (const service of await readContractServices()) {
      for (const method of service.methods as readonly DescMethod[]) {
        if (method.methodKind !== "bidi_streaming" && !/^(Logout|WatchHosts)$/.test(method.name)) {
          const answer = await callMethod(transport, method, {}).catch(rpcErrorFrom);
          assertHidden(JSON.stringify(answer), `${methodPathOf(method)} ${index}`);
        }
      }
    }
    for (const search of ["secret", "sandbox", uuid.slice(0, 8)]) {
      const found = await resourcesOf(one, { search });
      assertHidden(JSON.stringify(found), `search for ${search}`);
    }
    for (const id of [operation, "00000000-0000-4000-8000-000000000000"]) {
      const { text, reason } = await one.call("hostplane.v1.OperationService/GetOperation", { id });
      t.equal(reason, "OPERATION_NOT_FOUND");
      assertHidden(text.replaceAll(operation, ""), "an operation of others");
    }
  }
  await admin.call("proto.LVService/RemoveLV", { name: "db-1" });
  await until(async () => follower.texts.some((text) => text.includes("volume.removed")));
  assertHidden(follower.texts.join("\n"), "events");
});

/** Follows all events of a caller. */
function follow(caller: GrantedCaller) {
  const leaving = new AbortController();
  const texts: string[] = [];
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const stream = createClient(EventService, caller.transport()).subscribe({}, { signal: leaving.signal });
  void (async () => {
    try {
      for await (const message of stream) {
        resolve();
        texts.push(JSON.stringify(toJson(SubscribeResponseSchema, message)));
      }
    } catch {
      resolve();
    }
  })();
  return { texts, begun, leave: () => leaving.abort() };
}

test("a list for grants equals the list, filtered by them", async (t) => {
  const { admin, callerOf } = await startGrants(t);
  const all = await resourcesOf(admin);
  const segments = all.map(({ name }) => name.split("/"));
  const pattern = fc.constantFrom(...segments).chain((names) =>
    fc
      .tuple(
        fc.integer({ min: 1, max: names.length }),
        fc.array(fc.constantFrom("keep", "star", "start"), {
          minLength: names.length,
          maxLength: names.length,
        }),
      )
      .map(([count, how]) =>
        names
          .slice(0, count)
          .map((name, at) => (how[at] === "star" ? "*" : how[at] === "start" ? `${name.slice(0, 3)}*` : name))
          .join("/"),
      ),
  );
  let tokens = 0;
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(pattern, { minLength: 1, maxLength: 4 }), async (resources) => {
      tokens += 1;
      const grants = [{ role: "ROLE_VIEWER", resources }];
      const { body, text } = await admin.call("hostplane.v1.UserService/CreateApiToken", {
        name: `t${tokens}`,
        grants,
      });
      t.type(body.token, "string", text);
      const patterns = resources.map(parseResourcePattern);
      const expected = all.filter(({ name }) => patterns.some(({ covers }) => covers(name)));
      const listed = await resourcesOf(callerOf(String(body.token)));
      t.same(
        listed.map(({ name }) => name),
        expected.map(({ name }) => name),
        resources.join(" "),
      );
    }),
    { numRuns: 40 },
  );
});
