import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Test, test } from "tap";
import { ErrorInfoSchema } from "../../../../../gen/google/rpc/error_details_pb.ts";
import {
  GetOperationRequestSchema,
  GetOperationResponseSchema,
  ListOperationsRequestSchema,
  ListOperationsResponseSchema,
  type Operation,
  OperationSchema,
  OperationService,
} from "../../../../../gen/hostplane/v1/operation_pb.ts";
import { createHostsOfOperations } from "../../../../../server/domains/operations/hosts/find-host-of-operation.ts";
import { listFleetOperations } from "../../../../../server/domains/operations/hosts/list-fleet-operations.ts";
import { createLinkServer } from "../../../../../server/fleet/agent/link-server.ts";
import { anonymous, type Caller } from "../../../../../server/rpc/call/caller.ts";
import { openStoreWithEvents } from "../../../events/store-with-events.ts";
import { openLink } from "../../../harness/hosts-under-test.ts";
import { hubOf } from "../../../harness/hub-of-links.ts";
import { createCall } from "../../../rpc/call/call-under-test.ts";

const admin: Caller = { ...anonymous, role: "admin", services: undefined, current: () => admin };
const operation = (id: string, facts: Partial<Operation> = {}): Operation =>
  Object.assign(create(OperationSchema, { id, createdAt: timestampFromMs(1000) }), facts);

/** Opens the connection of a host that has, or claims to have, operations. */
async function openHost(
  t: Test,
  name: string,
  find: (id: string) => Operation | undefined,
  all: Operation[],
) {
  const server = createLinkServer({
    onStream: () => false,
    async onRequest(request, response) {
      const chunks: Buffer[] = [];
      for await (const chunk of request) {
        chunks.push(chunk);
      }
      const body = Buffer.concat(chunks);
      const send = (bytes: Uint8Array) =>
        response.writeHead(200, { "content-type": "application/proto" }).end(bytes);
      if (request.url?.endsWith("/ListOperations") === true) {
        fromBinary(ListOperationsRequestSchema, body);
        const list = create(ListOperationsResponseSchema, { operations: all });
        send(toBinary(ListOperationsResponseSchema, list));
        return;
      }
      const found = find(fromBinary(GetOperationRequestSchema, body).id);
      if (found === undefined) {
        const info = create(ErrorInfoSchema, { reason: "OPERATION_NOT_FOUND", domain: "hostplane" });
        const value = Buffer.from(toBinary(ErrorInfoSchema, info)).toString("base64");
        const details = [{ type: "google.rpc.ErrorInfo", value }];
        response.writeHead(404, { "content-type": "application/json" });
        response.end(JSON.stringify({ code: "not_found", message: "none", details }));
        return;
      }
      const answer = create(GetOperationResponseSchema, { operation: found });
      send(toBinary(GetOperationResponseSchema, answer));
    },
  });
  return (await openLink(t, name, (connection) => server.serve(connection, "hub"))).link;
}

function callOf(method: keyof typeof OperationService.method) {
  const call = createCall({ method: OperationService.method[method] });
  call.identify(admin);
  return call;
}

test("a host that reports every operation gets none of another host", async (t) => {
  const store = await openStoreWithEvents(t);
  const own = (id: string) => (id === "own" || id === "new" ? operation(id) : undefined);
  const hub = hubOf([
    await openHost(t, "node-1", operation, []),
    await openHost(t, "node-2", own, []),
    await openHost(t, "node-3", (id) => (id === "other" ? operation(id) : undefined), []),
  ]);
  const event = {
    topic: "operations",
    type: "operation.changed",
    resource: "operations/own",
    host: "",
    operationId: "own",
    services: ["proto.LVService"],
    payload: {},
  };
  for (const name of ["node-2", "node-1"]) {
    await store.run("events.append", { events: [{ ...event, ofHost: { name, atMs: 1 } }] });
  }
  const hosts = createHostsOfOperations(hub, store);
  t.equal(await hosts.find("own", callOf("getOperation")), "node-2", "the host of the first event");
  await t.rejects(hosts.find("new", callOf("getOperation")), {
    reason: "BAD_HOST_ANSWER",
    message: /node-1, node-2/,
  });
});

test("a host whose operations cannot be listed is missing, and the others are listed", async (t) => {
  const bad: readonly Operation[] = [
    operation("a", { message: "x".repeat(2 << 20) }),
    operation("x".repeat(10_000)),
    operation("a", { createdAt: { ...timestampFromMs(1), seconds: 2n ** 62n } }),
  ];
  for (const each of bad) {
    const hub = hubOf([
      await openHost(t, "node-1", () => undefined, [each]),
      await openHost(t, "node-2", () => undefined, [operation("b")]),
    ]);
    const list = { hub, operations: { list: async () => ({ operations: [], nextSeq: undefined }) } };
    const call = callOf("listOperations");
    const listed = await listFleetOperations(
      { ...list, isVisible: () => true },
      create(ListOperationsRequestSchema, {}),
      call,
    );
    t.match(listed, {
      operations: [{ id: "b", fleetHost: "node-2" }],
      missingHosts: [{ host: "node-1", reason: "BAD_HOST_ANSWER" }],
    });
    t.equal(listed.operations?.length, 1);
  }
});
