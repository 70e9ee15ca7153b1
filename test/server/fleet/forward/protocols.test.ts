import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { test } from "tap";
import { LVService, VGService } from "../../../../gen/proto/lvmd_pb.ts";
import { isLongForm } from "../../../long-form.ts";
import { callMethod, isCallable } from "../../harness/call-method.ts";
import { eventStreamProtocols, protocols } from "../../harness/protocols.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import { startFleetUnderTest } from "./fleet-under-test.ts";

const { getLVList, getFreeBytes, watch } = VGService.method;
const { createLV, removeLV } = LVService.method;

interface Row {
  readonly method: DescMethod;
  readonly request: JsonObject;
  readonly answer?: object;
  readonly error?: object;
}

const freeBytes = String(8 * 2 ** 30);

/** In an order in which each call finds its resources. */
const rows: readonly Row[] = [
  { method: getLVList, request: {}, answer: { volumes: [{ name: "sandbox-web" }, {}] } },
  { method: getFreeBytes, request: {}, answer: { freeBytes } },
  {
    method: getFreeBytes,
    request: { deviceClass: "hdd" },
    error: { code: "NOT_FOUND", reason: "DEVICE_CLASS_NOT_FOUND" },
  },
  { method: watch, request: {}, answer: { freeBytes } },
  { method: createLV, request: { name: "table", sizeGb: "1" }, answer: { volume: { name: "table" } } },
  {
    method: createLV,
    request: { name: "table", sizeGb: "1" },
    error: { code: "ALREADY_EXISTS", reason: "VOLUME_EXISTS" },
  },
  {
    method: createLV,
    request: { name: "-x", sizeGb: "1" },
    error: { code: "INVALID_ARGUMENT", reason: "INVALID_FIELD", fields: ["name"] },
  },
  { method: removeLV, request: { name: "table" }, answer: {} },
];

/** The short form has each protocol once. */
const inShortForm = [
  "Connect JSON over HTTP/1.1",
  "Connect binary over HTTP/2",
  "Connect GET JSON over HTTP/2",
  "gRPC-Web binary over HTTP/1.1",
  "gRPC-Web JSON over HTTP/2",
  "gRPC binary over HTTP/2",
  "server-sent events by POST over HTTP/2",
  "server-sent events by GET over HTTP/1.1",
];

const all = [...protocols, ...eventStreamProtocols];
for (const protocol of isLongForm ? all : all.filter(({ name }) => inShortForm.includes(name))) {
  test(`a hub forwards ${protocol.name}`, async (t) => {
    const { hub, authorization, agent } = await startFleetUnderTest(t);
    const byHeader = protocol.createTransport(hub.url, {
      headers: { authorization, "hostplane-host": "node-1" },
    });
    const byPath = protocol.createTransport(`${hub.url}/hosts/node-1`, { headers: { authorization } });
    const underApi = protocol.createTransport(`${hub.url}/hosts/node-1/api`, { headers: { authorization } });
    const unnamed = protocol.createTransport(hub.url, { headers: { authorization } });
    for (const [way, transport] of Object.entries({ byHeader, byPath, underApi, unnamed })) {
      for (const { method, request, answer, error } of rows) {
        if (!isCallable(protocol, method)) {
          continue;
        }
        const name = `${way} ${method.name} ${JSON.stringify(request)}`;
        const result = callMethod(transport, method, request);
        if (error === undefined) {
          t.match(await result, answer ?? {}, name);
        } else {
          t.match(await rpcErrorOf(result), { ...error, domain: "hostplane" }, name);
        }
      }
    }
    const faults = (log: readonly Record<string, unknown>[]) =>
      log.filter(({ level }) => Number(level) >= 40);
    t.same(faults(hub.log), [], "nothing is logged as a fault at the hub");
    t.same(faults(agent("node-1").log), [], "nor at the host");
  });
}
