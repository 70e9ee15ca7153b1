import { create, type DescMethod, type DescService, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { test } from "tap";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { methodRuleOf } from "../../../server/gateway/method-rules.ts";
import { createServices } from "../../../server/gateway/services.ts";
import { createInlineRunner } from "../../../server/operations/engine/run-inline.ts";
import { methodPathOf } from "../../../server/rpc/call/method-rule.ts";
import { eventStreamMethodOf } from "../../../server/rpc/protocols/sse/event-stream-methods.ts";
import { isLongForm } from "../../long-form.ts";
import { noFleet } from "../fleet/no-fleet.ts";
import { startAppUnderTest } from "../harness/app-under-test.ts";
import { callMethod, isCallable } from "../harness/call-method.ts";
import { readContractServices } from "../harness/contract-services.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { eventStreamProtocols, type Protocol, protocols } from "../harness/protocols.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";
import { withoutStore } from "../harness/without-store.ts";
import { accountRows } from "./rows/account-rows.ts";
import { backupRows } from "./rows/backup-rows.ts";
import { clusterRows, demo } from "./rows/cluster-rows.ts";
import { csiRows } from "./rows/csi-rows.ts";
import { fleetRows } from "./rows/fleet-rows.ts";
import { gatewayRows } from "./rows/gateway-rows.ts";
import { grpcRows } from "./rows/grpc-rows.ts";
import { hypervisorRows } from "./rows/hypervisor-rows.ts";
import { podRows } from "./rows/pod-rows.ts";
import { admin, answers, type Row } from "./rows/row.ts";
import { storageRows } from "./rows/storage-rows.ts";
import { volumeRows } from "./rows/volume-rows.ts";

const [connectJson] = protocols as readonly [Protocol];

/** Calls of the domains that this version serves. */
const served: readonly Row[] = [
  ...volumeRows,
  ...csiRows,
  ...backupRows,
  ...hypervisorRows,
  ...storageRows,
  ...podRows,
  ...gatewayRows,
  ...fleetRows,
  ...accountRows,
  ...grpcRows,
];

const rows: readonly Row[] = [
  ...served,
  ...clusterRows,
  // Last, because it ends the token that the others use.
  answers("services.auth.AuthService/Logout", {}, { success: true }),
];

const services = await readContractServices();
const methods = new Map(services.flatMap(methodsOf).map((method) => [methodPathOf(method), method]));

function methodsOf(service: DescService): readonly DescMethod[] {
  return service.methods;
}

function methodOf(path: string): DescMethod {
  const method = methods.get(path);
  if (method === undefined) {
    throw new TypeError(`the contract has no ${path}`);
  }
  return method;
}

test("the table has a row for every RPC of the contract", async (t) => {
  const paths = new Set(rows.map(({ path }) => path));
  t.same([...paths].toSorted(), [...methods.keys()].toSorted());
});

/** The short form has each protocol once, and Connect with both encodings and both HTTP versions. */
const inShortForm: Readonly<Record<string, readonly string[]>> = {
  "": [
    "Connect JSON over HTTP/1.1",
    "Connect binary over HTTP/2",
    "Connect GET JSON over HTTP/2",
    "gRPC-Web binary over HTTP/1.1",
    "gRPC binary over HTTP/2",
    "server-sent events by POST over HTTP/2",
    "server-sent events by GET over HTTP/1.1",
  ],
  // The router handles the prefix, so the encoding makes no difference.
  "/api": ["Connect binary over HTTP/1.1", "gRPC binary over HTTP/2"],
};

for (const prefix of ["", "/api"]) {
  const all = [...protocols, ...eventStreamProtocols];
  for (const protocol of isLongForm ? all : all.filter(({ name }) => inShortForm[prefix]?.includes(name))) {
    test(`every RPC over ${protocol.name}${prefix && ` under ${prefix}`}`, async (t) => {
      const { url, log } = await startGatewayUnderTest(t, {}, { hasLogin: true });
      const baseUrl = `${url}${prefix}`;
      const ofLogin = protocol.isEventStream === true ? connectJson : protocol;
      const logins = createClient(AuthService, ofLogin.createTransport(baseUrl));
      const { token } = await logins.login(admin);
      const transport = protocol.createTransport(baseUrl, { headers: { authorization: `Bearer ${token}` } });
      if (protocol.isGet === true || protocol.isEventStream === true) {
        // These protocols cannot create the resources that they read.
        const creator = connectJson.createTransport(baseUrl, {
          headers: { authorization: `Bearer ${token}` },
        });
        await callMethod(creator, methodOf("cnct.kaas.api.Cluster/CreateCluster"), demo);
      }
      for (const { path, request, answer, error } of rows) {
        const method = methodOf(path);
        if (!isCallable(protocol, method)) {
          continue;
        }
        const name = `${path} ${JSON.stringify(request)}`;
        const result = callMethod(transport, method, request);
        if (error === undefined) {
          t.match(await result, answer, name);
        } else {
          t.match(await rpcErrorOf(result), { ...error, domain: "hostplane" }, name);
        }
      }
      t.same(
        log.filter(({ level }) => Number(level) >= 40),
        [],
        "nothing is logged as a fault",
      );
    });
  }
}

test("a domain that is off refuses calls in every protocol and names the key that enables it", async (t) => {
  const facts = {
    version: "test",
    host: "host1",
    isSandbox: false,
    startedAtMs: Date.now(),
    listeners: () => [],
  };
  const systems = { volumes: undefined, close: async () => {} };
  const { registrations } = await createServices({
    systems,
    runner: createInlineRunner(() => {}),
    auth: { registrations: [], planners: [] },
    ...withoutStore(),
    facts,
    maxMessageBytes: 4 << 20,
    fleet: noFleet,
    routeOf: () => undefined,
  });
  const { url } = await startAppUnderTest(t, registrations);
  const off = { code: "UNAVAILABLE", reason: "DOMAIN_OFF" };
  const keys: Readonly<Record<string, RegExp>> = {
    proto: /volumes\.deviceClasses/,
    "operations.v1": /`hypervisors`/,
  };
  for (const protocol of protocols) {
    const transport = protocol.createTransport(url);
    for (const method of methods.values()) {
      const message = keys[method.parent.file.proto.package];
      if (message !== undefined && isCallable(protocol, method)) {
        t.match(
          await rpcErrorOf(callMethod(transport, method, {})),
          { ...off, message },
          `${method.name} by ${protocol.name}`,
        );
      }
    }
  }
});

test("a method that may not be called by GET answers 405 and names the allowed methods", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  for (const [path, method] of methods) {
    if (methodRuleOf(method).get || eventStreamMethodOf(method, methodRuleOf(method))?.byGet === true) {
      continue;
    }
    for (const prefix of ["", "/api"]) {
      const response = await fetch(`${url}${prefix}/${path}?encoding=json&message=%7B%7D`);
      await response.arrayBuffer();
      t.equal(response.status, 405, `GET ${prefix}/${path}`);
      t.equal(response.headers.get("allow"), "POST");
    }
  }
});

test("gRPC over HTTP/1.1 is refused for every RPC, because it needs HTTP/2", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  for (const [path, method] of methods) {
    const body = encodeEnvelope(0, toBinary(method.input, create(method.input)));
    const headers = { "content-type": "application/grpc", te: "trailers" };
    const response = await fetch(`${url}/${path}`, { method: "POST", headers, body: new Uint8Array(body) });
    t.equal(response.status, 505, path);
    t.match(await response.text(), /HTTP\/2/);
  }
});

test("a bidirectional stream over HTTP/1.1 is refused, because it needs HTTP/2", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  for (const type of [
    "application/connect+json",
    "application/connect+proto",
    "application/grpc-web+proto",
  ]) {
    for (const [path, method] of methods) {
      if (method.methodKind === "bidi_streaming") {
        const headers = { "content-type": type };
        const response = await fetch(`${url}/${path}`, { method: "POST", headers });
        await response.arrayBuffer();
        t.equal(response.status, 505, `${type} ${path}`);
      }
    }
  }
});
