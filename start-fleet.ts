import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { FleetService, MembershipService } from "./gen/hostplane/v1/fleet_pb.ts";
import { loadConfig } from "./server/gateway/config/load.ts";
import { dataDirectoryOf } from "./server/gateway/open-data.ts";
import { adminSocketOf, shortSocketPath } from "./server/rpc/listener/admin-listener.ts";

// `npm run start:fleet`: a hub and three sandboxes that have joined it, all of them on loopback, until Ctrl-C. The variables
// HOSTPLANE_LISTEN and HOSTPLANE_DATA choose the address of the hub, and the directory below which the data are until then.

const names = ["node-1", "node-2", "node-3"];
const { HOSTPLANE_LISTEN: address = "127.0.0.1:8080", HOSTPLANE_DATA } = process.env;
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("HOSTPLANE_")),
);
const gateways: ChildProcess[] = [];
const stopping = new AbortController();

process.on("SIGINT", () => stop());
process.on("SIGTERM", () => stop());
const directory = await createDirectory();
try {
  await startFleet();
  await Promise.all(gateways.map(untilExit));
} catch (error) {
  if (!stopping.signal.aborted) {
    process.exitCode = 1;
    process.stderr.write(`start-fleet: ${error instanceof Error ? error.message : String(error)}\n`);
  }
} finally {
  stop();
  await Promise.all(gateways.map(untilExit));
  await rm(directory, { recursive: true, force: true });
}

async function startFleet(): Promise<void> {
  const hub = start("hub", [
    "--listen",
    address,
    "--set",
    "host=localhost",
    "--set",
    "fleet.hub.listen=127.0.0.1:0",
  ]);
  const agents = names.map((name, at) =>
    start(name, ["--listen", "127.0.0.1:0", "--set", `host=${name}`, "--sandbox-seed", String(at + 1)]),
  );
  const [banner] = await Promise.all([
    untilBanner(hub, "hub"),
    ...agents.map((each, at) => untilBanner(each, names[at])),
  ]);
  for (const name of names) {
    const { token } = await clientOf("hub", FleetService).createHostToken({});
    await clientOf(name, MembershipService).joinFleet({ token, name });
  }
  for await (const { hosts } of clientOf("hub", FleetService).watchHosts({}, { signal: stopping.signal })) {
    if (hosts.filter(({ connected, report }) => connected && report !== undefined).length === names.length) {
      break;
    }
  }
  process.stdout.write(banner + examples(banner));
}

/** Returns a new directory for the data of all gateways, which is removed at the end. */
async function createDirectory(): Promise<string> {
  const loaded = await loadConfig({ env: HOSTPLANE_DATA === undefined ? {} : { HOSTPLANE_DATA } });
  if (!loaded.ok) {
    throw new Error(loaded.mistakes.map(({ message }) => message).join("; "));
  }
  const parent = resolve(loaded.config.data, "fleet-demo");
  await mkdir(parent, { recursive: true, mode: 0o700 });
  return mkdtemp(join(parent, "run-"));
}

function start(name: string, args: readonly string[]): ChildProcess {
  const argv = [
    "bin/hostplane.js",
    "serve",
    "--sandbox",
    "--data",
    join(directory, name),
    "--log-level",
    "error",
    ...args,
  ];
  // A gateway stops when the channel to this process closes, also if this process is killed.
  const gateway = spawn(process.execPath, argv, {
    cwd: import.meta.dirname,
    env,
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  gateways.push(gateway);
  gateway.once("exit", () => stop());
  return gateway;
}

/** Resolves with what a gateway prints when it is ready. @throws Error when it ends before that */
async function untilBanner({ stdout }: ChildProcess, name = ""): Promise<string> {
  let text = "";
  for await (const chunk of stdout?.setEncoding("utf8").iterator({ destroyOnReturn: false }) ?? []) {
    text += chunk;
    // Its last line.
    if (/export TOKEN=.*\n/.test(text)) {
      return text;
    }
  }
  throw new Error(`the gateway ${name} ended before it was ready`);
}

/** Returns a client on the admin socket of a gateway. */
function clientOf<S extends DescService>(name: string, service: S): Client<S> {
  const socket = adminSocketOf(dataDirectoryOf({ data: join(directory, name) }, true));
  const transport = createConnectTransport({
    httpVersion: "1.1",
    baseUrl: "http://localhost",
    nodeOptions: { socketPath: shortSocketPath(socket) },
  });
  return createClient(service, transport);
}

/** Returns calls of hosts, to paste into another terminal. */
function examples(banner: string): string {
  const [, url = ""] = /^ {2}(https?:\S+)/m.exec(banner) ?? [];
  const curl = `curl -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '{}'`;
  const lines = [
    `${names.join(", ")} have joined. In another terminal, with the line above:`,
    `  ${curl} -H 'hostplane-host: node-1' ${url}/proto.VGService/GetLVList`,
    `  ${curl} ${url}/hosts/node-2/proto.VGService/GetLVList`,
    `  npm run -s hostplane -- host list --sandbox --data ${join(directory, "hub")}`,
    "Ctrl-C stops all and removes their data.",
  ];
  return `${lines.join("\n")}\n`;
}

function stop(): void {
  if (!stopping.signal.aborted) {
    stopping.abort();
    for (const gateway of gateways) {
      gateway.kill("SIGTERM");
    }
  }
}

async function untilExit(gateway: ChildProcess): Promise<void> {
  if (gateway.exitCode === null && gateway.signalCode === null) {
    await once(gateway, "exit");
  }
}
