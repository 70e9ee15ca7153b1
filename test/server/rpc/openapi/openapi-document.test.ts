import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { test } from "tap";
import { readDocumentedContract, wholeDocument } from "./contract-under-test.ts";

const contract = await readDocumentedContract();
const document = wholeDocument(contract);
const paths = document.paths as Record<string, Record<string, JsonObject>>;
const operations = Object.values(paths).flatMap((item) => Object.values(item));

/** Yields every object of the document. */
function* objectsIn(value: JsonValue | undefined): Generator<JsonObject> {
  if (typeof value !== "object" || value === null) {
    return;
  }
  if (!Array.isArray(value)) {
    yield value;
  }
  for (const inner of Object.values(value)) {
    yield* objectsIn(inner);
  }
}

test("every RPC and every REST route is included, with GET where the method table allows it", async (t) => {
  for (const { method, rule } of contract.methods) {
    const item = paths[`/${method.parent.typeName}/${method.name}`];
    const isWatch = method.methodKind === "server_streaming" && !rule.mutation && !rule.secrets;
    t.same(
      Object.keys(item ?? {}).sort(),
      rule.get || isWatch ? ["get", "post"] : ["post"],
      method.toString(),
    );
    t.equal(item?.post?.["x-hostplane-role"], rule.role);
  }
  for (const { template, httpMethod } of contract.restRoutes) {
    t.ok(paths[template.text]?.[httpMethod.toLowerCase()], template.text);
  }
});

test("operations have unique ids, a comment and the tag of their service", async (t) => {
  const ids = operations.map(({ operationId }) => operationId);
  t.equal(new Set(ids).size, ids.length);
  for (const { operationId, description, tags } of operations) {
    t.ok(description, String(operationId));
    t.equal((tags as string[]).length, 1);
  }
});

test("every reference has a target, and every component is referenced", async (t) => {
  const refs = new Set(
    [...objectsIn(document)].flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : [])),
  );
  const { securitySchemes, ...components } = document.components as Record<string, JsonObject>;
  const known = Object.entries(components).flatMap(([kind, all]) =>
    Object.keys(all).map((name) => `#/components/${kind}/${name}`),
  );
  t.same([...refs].toSorted(), known.toSorted());
  t.same(Object.keys(securitySchemes ?? {}), ["bearer", "cookie", "cookieOverTls"]);
});

test("an idempotency-key is offered where it is supported, and Last-Event-ID where a stream can continue", async (t) => {
  const takes = (path: string, name: string) =>
    JSON.stringify(paths[path]?.post?.parameters).includes(`#/components/parameters/${name}"`);
  t.ok(takes("/proto.LVService/CreateLV", "IdempotencyKey"));
  t.notOk(takes("/proto.VGService/GetLVList", "IdempotencyKey"), "a read");
  t.notOk(takes("/hostplane.v1.UserService/CreateApiToken", "IdempotencyKey"), "its answer is secret");
  t.notOk(takes("/operations.v1.OperationsService/CreateHypervisor", "IdempotencyKey"), "a stream");
  t.ok(takes("/hostplane.v1.EventService/Subscribe", "LastEventId"));
  t.notOk(takes("/proto.VGService/Watch", "LastEventId"));
});

test("errors have their status: Connect's, and grpc-gateway's for REST", async (t) => {
  const statusesOf = (path: string, verb: string) => Object.keys(paths[path]?.[verb]?.responses as object);
  t.match(statusesOf("/proto.LVService/CreateLV", "post"), ["200", "400", "401", "403", "404", "409"]);
  t.ok(statusesOf("/proto.LVService/CreateLV", "post").includes("499"));
  t.ok(statusesOf("/api/v1/cluster", "delete").includes("412"));
  t.match(JSON.stringify(document), "DEVICE_CLASS_NOT_FOUND");
});

test("an operation has the errors of its own RPC, and no other's", async (t) => {
  const responses = (document.components as Record<string, Record<string, JsonObject>>).responses ?? {};
  const reasonsOf = (path: string, status: string) => {
    const own = paths[path]?.post?.responses as Record<string, { $ref?: string }> | undefined;
    const { $ref = "" } = own?.[status] ?? {};
    return String(responses[$ref.split("/").at(-1) ?? ""]?.description);
  };
  t.match(reasonsOf("/proto.LVService/RemoveLV", "404"), /`VOLUME_NOT_FOUND`/);
  t.notMatch(reasonsOf("/proto.LVService/RemoveLV", "404"), /`POD_NOT_FOUND`/);
  t.notMatch(reasonsOf("/proto.VGService/GetFreeBytes", "404"), /`VOLUME_NOT_FOUND`/);
  t.match(reasonsOf("/services.auth.AuthService/Login", "401"), /`INVALID_CREDENTIALS`/);
  t.notMatch(reasonsOf("/services.auth.AuthService/Login", "401"), /`LOGIN_REQUIRED`/);
  t.notOk(Object.hasOwn(paths["/grpc.health.v1.Health/Check"]?.post?.responses as object, "401"));
});

test("GET of a stream documents the header that it needs, and the query in Connect's form", async (t) => {
  const get = paths["/hostplane.v1.EventService/Subscribe"]?.get;
  t.match((get?.responses as JsonObject | undefined)?.["406"], {
    $ref: "#/components/responses/NotAcceptable",
  });
  t.ok(Object.hasOwn(get?.responses as object, "431"), "a request that is too large for a URL");
  const parameters = JSON.stringify(get?.parameters);
  for (const name of ["ConnectVersion", "StreamEncoding"]) {
    t.match(parameters, `#/components/parameters/${name}"`);
  }
  t.match(parameters, '"name":"message"');
  t.notMatch(parameters, '"required":true', "fields as parameters need none of them");
  t.notOk(Object.hasOwn(paths["/hostplane.v1.EventService/Subscribe"]?.post?.responses as object, "406"));
});

test("every error has the one schema of its style, so that generators create one error type for each", async (t) => {
  const responses = (document.components as Record<string, Record<string, JsonObject>>).responses ?? {};
  const resolved = (response: JsonObject) => {
    const name = typeof response.$ref === "string" ? response.$ref.split("/").at(-1) : undefined;
    return name === undefined ? response : (responses[name] ?? {});
  };
  const bare = new Set<string>();
  const styles = new Map<string, Set<string>>();
  const bothWays = new Set(
    operations
      .filter((operation) => operation["x-hostplane-kind"] === "bidi_streaming")
      .map(({ operationId }) => operationId),
  );
  for (const { operationId, responses: own } of operations) {
    const schemas = new Set<string>();
    for (const [status, response] of Object.entries(own as Record<string, JsonObject>)) {
      if (status < "400") {
        continue;
      }
      const { content } = resolved(response);
      if (content === undefined) {
        bare.add(status);
        continue;
      }
      t.same(Object.keys(content as JsonObject), ["application/json"], `${operationId} ${status}`);
      const { schema } = (content as Record<string, JsonObject>)["application/json"] ?? {};
      t.same(Object.keys(schema as JsonObject), ["$ref"], `${operationId} ${status}`);
      schemas.add(String((schema as JsonObject).$ref));
    }
    styles.set(String(operationId), schemas);
  }
  t.same(
    [...bare].toSorted(),
    ["406", "415", "431"],
    "a line of text or nothing, without a schema that adds a string",
  );
  const known = ["#/components/schemas/ConnectError", "#/components/schemas/RestError"];
  for (const [operationId, schemas] of styles) {
    // A stream in both directions has its errors in its last message.
    t.equal(schemas.size, bothWays.has(operationId) ? 0 : 1, operationId);
    t.ok(
      [...schemas].every((schema) => known.includes(schema)),
      operationId,
    );
  }
  t.same([...new Set([...styles.values()].flatMap((each) => [...each]))].toSorted(), known);
});
