import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, createRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { pino } from "pino";
import type { FleetHosts } from "../../server/fleet/forward/fleet-hosts.ts";
import { configSchema } from "../../server/gateway/config/schema.ts";
import type { Gateway } from "../../server/gateway/gateway.ts";
import { startGateway } from "../../server/gateway/start-gateway.ts";
import type { MethodRule } from "../../server/rpc/call/method-rule.ts";
import { createHostsUnderTest, type HostsUnderTest, openLink } from "../server/harness/hosts-under-test.ts";
import { conformanceService } from "./conformance-service.ts";
import {
  type ServerCompatRequest,
  ServerCompatRequestSchema,
  ServerCompatResponseSchema,
} from "./gen/connectrpc/conformance/v1/server_compat_pb.ts";
import {
  ConformanceService,
  file_connectrpc_conformance_v1_service,
} from "./gen/connectrpc/conformance/v1/service_pb.ts";

// The server under test of the Connect conformance suite: a gateway that also has the suite's service. It reads its settings from
// a ServerCompatRequest on stdin, writes its address in a ServerCompatResponse to stdout, and runs until SIGTERM. Each message is
// preceded by its size: 4 bytes, big endian. The log goes to stderr.

const loopback = "127.0.0.1";
const defaultMessageBytes = 4 * 1024 * 1024;
/** Limits that the suite does not reach. */
const unlimited = {
  caller: { requestsPerSecond: 1_000_000, streams: 65_535, mutations: 65_535, cpuMsPerSecond: 1_000_000 },
  // The suite's client, which has no login, keeps sending the body of rejected calls.
  unknown: { cpuMsPerSecond: 1_000_000, memoryBytes: 2 ** 34, memoryBytesPerAddress: 2 ** 34 },
};

const rule: MethodRule = {
  domain: "conformance",
  role: "anyone",
  mutation: false,
  get: false,
  cache: false,
  secrets: false,
  secretAnswer: false,
  ofEveryService: true,
  hostBound: false,
  fleetWide: false,
  repeatable: false,
};

const directory = await mkdtemp(join(tmpdir(), "hostplane-conformance-"));
const request = fromBinary(ServerCompatRequestSchema, await readSized());
/** With a hub, the suite's calls go through it to a host that serves them. */
const isThroughHub = process.env.CONFORMANCE_THROUGH_HUB === "1";
const ending: (() => unknown)[] = [() => rm(directory, { recursive: true })];
const closing = { teardown: (end: () => unknown) => void ending.push(end) };
const common: Omit<Parameters<typeof startGateway>[0], "config"> = {
  isSandbox: true,
  version: "0.0.0-conformance",
  logger: pino({ level: "error" }, pino.destination(2)),
  secrets: {},
  ...(process.env.RPC_PATH === "connect-es" ? { accelerators: [] } : {}),
  furtherServices: {
    registrations: [conformanceService],
    ruleOf: (method) => ({ ...rule, get: method === ConformanceService.method.idempotentUnary }),
    // The suite limits only the messages that are received.
    maxAnswerBytes: 0xffffffff,
    // The suite packs messages into Any, which JSON contains unpacked.
    registry: createRegistry(file_connectrpc_conformance_v1_service),
  },
  onFatal: (error) => {
    throw error;
  },
};

async function start(settings: Readonly<Record<string, unknown>>, fleetHosts?: FleetHosts): Promise<Gateway> {
  const config = configSchema.parse({
    limits: { maxMessageBytes: request.messageReceiveLimit || defaultMessageBytes, ...unlimited },
    ...settings,
  });
  const started = await startGateway({ ...common, config, fleetHosts });
  ending.push(() => started.close());
  return started;
}

/** Starts the host, and connects it to its hub. */
async function startHost(hosts: HostsUnderTest): Promise<void> {
  const host = await start({ data: join(directory, "host"), listen: [{ address: `${loopback}:0` }] });
  const opened = await openLink(closing, "node-1", (connection) => host.serveHub(connection, "hub"));
  hosts.set("node-1", opened.link);
}

// The suite treats an error with more details than in the test case as wrong.
const listener = { address: `${loopback}:0`, errorDetails: false, ...(await tlsOf(request)) };
const hosts = isThroughHub ? createHostsUnderTest() : undefined;
const fleetHost = hosts && { fleetHost: "node-1" };
const [gateway] = await Promise.all([
  start({ data: directory, listen: [{ ...listener, ...fleetHost }] }, hosts),
  hosts && startHost(hosts),
]);
process.once("SIGTERM", async () => {
  for (const end of ending.toReversed()) {
    await end();
  }
});
const port = Number(gateway.addresses[0]?.split(":").at(-1));
const pemCert = request.serverCreds?.cert ?? new Uint8Array();
writeSized(
  toBinary(ServerCompatResponseSchema, create(ServerCompatResponseSchema, { host: loopback, port, pemCert })),
);

/** Returns the listener's setting `tls`, with the suite's certificates. */
async function tlsOf({ serverCreds, clientTlsCert }: ServerCompatRequest): Promise<object> {
  if (serverCreds === undefined) {
    return {};
  }
  const files = { cert: serverCreds.cert, key: serverCreds.key, clientCa: clientTlsCert };
  const tls: Record<string, string> = {};
  for (const [name, content] of Object.entries(files)) {
    if (content.byteLength > 0) {
      tls[name] = join(directory, `${name}.pem`);
      await writeFile(tls[name], content, { mode: 0o600 });
    }
  }
  return { tls };
}

async function readSized(): Promise<Uint8Array> {
  let seen = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    seen = Buffer.concat([seen, chunk]);
    const end = seen.length < 4 ? Number.POSITIVE_INFINITY : 4 + seen.readUInt32BE(0);
    if (seen.length >= end) {
      return seen.subarray(4, end);
    }
  }
  throw new Error(`stdin ended after ${seen.length} bytes`);
}

function writeSized(message: Uint8Array): void {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(message.byteLength);
  process.stdout.write(Buffer.concat([size, message]));
}
