import {
  create,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  fromJson,
  type JsonObject,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { test } from "tap";
import { methodRuleOf } from "../../server/method-table.ts";
import { createInlineRunner } from "../../server/operations/run-inline.ts";
import { methodPathOf } from "../../server/rpc/method-rule.ts";
import { createServices } from "../../server/services.ts";
import { startAppUnderTest } from "./app-under-test.ts";
import { readContractServices } from "./contract-services.ts";
import { startGatewayUnderTest } from "./gateway-under-test.ts";
import { type Protocol, protocols } from "./protocols.ts";
import { rpcErrorOf } from "./rpc-error.ts";

/** What a call results in, in every protocol: the (first) message as JSON, or an error. */
interface Row {
  readonly path: string;
  readonly request: JsonObject;
  readonly answer?: object;
  readonly error?: { readonly code: string; readonly reason: string; readonly fields?: readonly string[] };
}

const answers = (path: string, request: JsonObject, answer: object): Row => ({ path, request, answer });
const refuses = (path: string, request: JsonObject, code: string, reason: string, ...fields: string[]) => ({
  path,
  request,
  error: { code, reason, fields },
});

const gib = (count: number) => String(count * 2 ** 30);

/** The domains this version serves, in an order in which each call finds what it needs. */
const served: readonly Row[] = [
  answers("proto.VGService/GetLVList", {}, { volumes: [{ name: "sandbox-web", sizeGb: "2" }, {}] }),
  answers("proto.VGService/GetLVList", { deviceClass: "sandbox-ssd" }, { volumes: [{}, { sizeGb: "5" }] }),
  refuses("proto.VGService/GetLVList", { deviceClass: "hdd" }, "NOT_FOUND", "DEVICE_CLASS_NOT_FOUND"),
  answers("proto.VGService/GetFreeBytes", {}, { freeBytes: gib(8) }),
  refuses("proto.VGService/GetFreeBytes", { deviceClass: "hdd" }, "NOT_FOUND", "DEVICE_CLASS_NOT_FOUND"),
  answers(
    "proto.VGService/Watch",
    {},
    { freeBytes: gib(8), items: [{ deviceClass: "sandbox-ssd", freeBytes: gib(8) }] },
  ),
  answers(
    "proto.LVService/CreateLV",
    { name: "table", sizeGb: "1", tags: ["t"] },
    { volume: { name: "table", sizeGb: "1", devMajor: 253, tags: ["t"] } },
  ),
  refuses("proto.LVService/CreateLV", { name: "table", sizeGb: "1" }, "ALREADY_EXISTS", "VOLUME_EXISTS"),
  refuses(
    "proto.LVService/CreateLV",
    { name: "-x", sizeGb: "1" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "name",
  ),
  answers("proto.LVService/ResizeLV", { name: "table", sizeGb: "2" }, {}),
  refuses("proto.LVService/ResizeLV", { name: "none", sizeGb: "2" }, "NOT_FOUND", "VOLUME_NOT_FOUND"),
  answers("proto.LVService/RemoveLV", { name: "table" }, {}),
  refuses("proto.LVService/RemoveLV", { name: "sandbox-db" }, "FAILED_PRECONDITION", "VOLUME_IN_USE"),
  refuses("proto.LVService/CreateBackup", {}, "UNIMPLEMENTED", "NOT_BUILT"),
  answers(
    "hostplane.v1.SystemService/GetInfo",
    {},
    { version: "0.0.0-test", sandbox: true, listeners: [{}] },
  ),
  answers(
    "hostplane.v1.SystemService/ListBackends",
    {},
    {
      backends: [
        { domain: "clusters", name: "maas" },
        { domain: "hypervisors", name: "libvirt" },
        { domain: "pods", name: "podman" },
        { domain: "storage", name: "ceph", health: "BACKEND_HEALTH_UNAVAILABLE" },
        { domain: "volumes", name: "lvm", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
      ],
    },
  ),
  refuses("hostplane.v1.PlanService/Plan", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "method"),
  refuses(
    "hostplane.v1.PlanService/Plan",
    { method: "proto.LVService/RemoveLV", json: { name: "sandbox-web" } },
    "UNAUTHENTICATED",
    "LOGIN_REQUIRED",
  ),
  answers("grpc.health.v1.Health/Check", {}, { status: "SERVING" }),
  answers("grpc.health.v1.Health/Check", { service: "proto.LVService" }, { status: "SERVING" }),
  answers("grpc.health.v1.Health/Check", { service: "v1alpha.PublicAPI" }, { status: "NOT_SERVING" }),
  refuses("grpc.health.v1.Health/Check", { service: "no.Such" }, "NOT_FOUND", "SERVICE_NOT_FOUND"),
  answers("grpc.health.v1.Health/List", {}, { statuses: { "": { status: "SERVING" } } }),
  answers("grpc.health.v1.Health/Watch", { service: "no.Such" }, { status: "SERVICE_UNKNOWN" }),
  ...["v1", "v1alpha"].map((version) =>
    answers(
      `grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      { listServices: "" },
      { listServicesResponse: { service: [{ name: "proto.LVService" }, { name: "proto.VGService" }] } },
    ),
  ),
];

/** Services of the contract whose domain this version does not serve: every method refuses. */
const unbuilt: Readonly<Record<string, readonly string[]>> = {
  "services.auth.AuthService": ["Login", "Logout", "CheckToken"],
  "hostplane.v1.UserService": [
    "GetCaller",
    "ListUsers",
    "CreateUser",
    "UpdateUser",
    "DeleteUser",
    "SetPassword",
    "ChangePassword",
    "ListApiTokens",
    "CreateApiToken",
    "RevokeApiToken",
    "RotateSigningKey",
  ],
  "hostplane.v1.AuditService": ["ListEvents"],
  "stats.StatsService": [
    "GetClusterStats",
    "GetClusterResources",
    "GetClusterNodes",
    "GetClusterRadar",
    "GetKoorCluster",
  ],
  "cnct.kaas.api.Cluster": [
    "CreateCluster",
    "GetCluster",
    "DeleteCluster",
    "GetClusterList",
    "GetClusterNodesStatus",
    "GetVersionInformation",
    "AddNodePool",
    "DeleteNodePool",
    "ScaleNodePool",
    "GetUpgradeClusterInformation",
    "UpgradeCluster",
  ],
  "operations.v1.OperationsService": [
    "ListHypervisors",
    "CreateHypervisor",
    "CreateHypervisors",
    "DestroyHypervisor",
    "DestroyHypervisors",
    "ExpandStorage",
    "ShrinkStorage",
    "CreateBackup",
  ],
  "v1alpha.PublicAPI": [
    "GetInfo",
    "ListPods",
    "InspectPod",
    "ListImages",
    "InspectImage",
    "ListenEvents",
    "GetLogs",
  ],
};

const rows: readonly Row[] = [
  ...served,
  ...Object.entries(unbuilt).flatMap(([service, names]) =>
    names.map((name) => refuses(`${service}/${name}`, {}, "UNIMPLEMENTED", "DOMAIN_NOT_BUILT")),
  ),
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

/** Calls a method of any kind and returns its answer, of a stream the first one, as JSON. */
async function call(transport: Transport, method: DescMethod, request: JsonObject): Promise<unknown> {
  const input = fromJson(method.input, request);
  if (method.methodKind === "unary") {
    const unary = method as DescMethodUnary;
    const response = await transport.unary(unary, undefined, 5_000, undefined, input);
    return toJson(method.output, response.message);
  }
  const leaving = new AbortController();
  const stream = method as DescMethodServerStreaming;
  const inputs = (async function* () {
    yield input;
  })();
  try {
    const response = await transport.stream(stream, leaving.signal, undefined, undefined, inputs);
    for await (const message of response.message) {
      return toJson(method.output, message);
    }
    throw new TypeError(`${method.name} ended without a message`);
  } finally {
    leaving.abort();
  }
}

function isCallable(protocol: Protocol, method: DescMethod): boolean {
  if (method.methodKind === "bidi_streaming" && protocol.httpVersion === "1.1") {
    return false;
  }
  return protocol.isGet === undefined || methodRuleOf(method).get;
}

test("the table has a row for every RPC of the contract", async (t) => {
  const paths = new Set(rows.map(({ path }) => path));
  t.same([...paths].toSorted(), [...methods.keys()].toSorted());
});

for (const prefix of ["", "/api"]) {
  // The prefix is the router's; the encoding makes no difference to it.
  for (const protocol of prefix === ""
    ? protocols
    : protocols.filter(({ name }) => name.includes("binary"))) {
    test(`every RPC by ${protocol.name}${prefix && ` under ${prefix}`}`, async (t) => {
      const { url, log } = await startGatewayUnderTest(t);
      const transport = protocol.createTransport(`${url}${prefix}`);
      for (const { path, request, answer, error } of rows) {
        const method = methodOf(path);
        if (!isCallable(protocol, method)) {
          continue;
        }
        const name = `${path} ${JSON.stringify(request)}`;
        const result = call(transport, method, request);
        if (error === undefined) {
          t.match(await result, answer, name);
        } else {
          t.match(await rpcErrorOf(result), { ...error, domain: "hostplane" }, name);
        }
      }
      t.same(
        log.filter(({ level }) => Number(level) >= 40),
        [],
        "nothing is a fault",
      );
    });
  }
}

test("a domain that is off refuses in every protocol and says which key turns it on", async (t) => {
  const facts = { version: "test", isSandbox: false, startedAtMs: Date.now(), listeners: () => [] };
  const systems = { volumes: undefined, close: async () => {} };
  const { registrations } = createServices({
    systems,
    runner: createInlineRunner(() => {}),
    auth: { registrations: [], planners: [] },
    store: { run: () => Promise.reject(new Error("there is no store")) },
    facts,
  });
  const { url } = await startAppUnderTest(t, registrations);
  const off = { code: "UNAVAILABLE", reason: "DOMAIN_OFF", message: /volumes\.deviceClasses/ };
  for (const protocol of protocols) {
    const transport = protocol.createTransport(url);
    for (const method of [...methods.values()].filter(
      ({ parent }) => parent.file.proto.package === "proto",
    )) {
      if (isCallable(protocol, method)) {
        t.match(await rpcErrorOf(call(transport, method, {})), off, `${method.name} by ${protocol.name}`);
      }
    }
  }
});

test("a method that may not be called by GET answers 405 and names what it allows", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  for (const [path, method] of methods) {
    if (methodRuleOf(method).get) {
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

test("gRPC over HTTP/1.1 is told that it needs HTTP/2, for every RPC", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  for (const [path, method] of methods) {
    const body = encodeEnvelope(0, toBinary(method.input, create(method.input)));
    const headers = { "content-type": "application/grpc", te: "trailers" };
    const response = await fetch(`${url}/${path}`, { method: "POST", headers, body: new Uint8Array(body) });
    t.equal(response.status, 505, path);
    t.match(await response.text(), /HTTP\/2/);
  }
});

test("a bidirectional stream over HTTP/1.1 is told that it needs HTTP/2", async (t) => {
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
