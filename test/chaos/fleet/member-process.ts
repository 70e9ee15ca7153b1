import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Test } from "tap";
import { adminPassword } from "../../server/harness/gateway-under-test.ts";
import { until } from "../../server/harness/until.ts";

const ownProgram = fileURLToPath(new URL("../../../bin/hostplane.js", import.meta.url));
const execute = promisify(execFile);

/** How a gateway is started. */
export interface MemberOptions {
  /** Without a sandbox: a hub whose store the settings name. */
  readonly isReal?: boolean;
  /** Starts the program, such as `ip netns exec NAME`. */
  readonly launcher?: readonly string[];
  /** `bin/hostplane.js` of another version. */
  readonly program?: string;
}

/** A gateway, with a sandbox by default, in a process that can be killed and started again with the same data. */
export interface MemberProcess {
  readonly directory: string;
  /** Starts it, and waits until it serves. */
  start(): Promise<void>;
  /** `http://127.0.0.1:port`, which changes with each start. */
  url(): string;
  pid(): number;
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  /** Sends SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** Runs `hostplane` on its data directory. Returns what it prints. */
  command(...args: readonly string[]): Promise<string>;
  /** Returns a client on its admin socket. */
  admin<S extends DescService>(service: S): Client<S>;
}

/** @param settings keys of the configuration file */
export function createMemberProcess(
  t: Pick<Test, "teardown">,
  directory: string,
  settings: Readonly<Record<string, unknown>>,
  { isReal = false, launcher = [], program = ownProgram }: MemberOptions = {},
): MemberProcess {
  mkdirSync(directory, { recursive: true });
  const [configFile, data, logFile] = ["hostplane.yaml", "data", "log"].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  const caller = { requestsPerSecond: 1e6, streams: 10_000, mutations: 10_000, cpuMsPerSecond: 1e6 };
  const all = {
    listen: [{ address: "127.0.0.1:0" }],
    log: { format: "json" },
    limits: { caller },
    data,
    ...settings,
  };
  // JSON is valid YAML.
  writeFileSync(configFile, JSON.stringify(all));
  let child: ChildProcess | undefined;
  let url = "";

  async function kill(): Promise<void> {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  }
  t.teardown(kill);

  return {
    directory,
    async start() {
      const log = openSync(logFile, "w");
      const [command = "", ...args] = [
        ...launcher,
        process.execPath,
        program,
        "serve",
        ...(isReal ? [] : ["--sandbox", "--sandbox-quiet"]),
        "--config",
        configFile,
      ];
      const started = spawn(command, args, {
        stdio: ["ignore", log, log],
        env: { ...process.env, HOSTPLANE_ADMIN_PASSWORD: adminPassword },
      });
      child = started;
      let address: string | undefined;
      await until(() => {
        if (started.exitCode !== null) {
          throw new Error(`the gateway has ended: ${readFileSync(logFile, "utf8").slice(-4000)}`);
        }
        address = /"addresses":\["([^"]+)"/.exec(readFileSync(logFile, "utf8"))?.[1];
        return address !== undefined;
      });
      url = `http://${address}`;
    },
    url: () => url,
    pid: () => child?.pid ?? 0,
    signal: (name) => void child?.kill(name),
    kill,
    async command(...args) {
      const { stdout } = await execute(process.execPath, [
        program,
        ...args,
        "--config",
        configFile,
        ...(isReal ? [] : ["--sandbox"]),
      ]);
      return stdout.trim();
    },
    admin: (service) =>
      createClient(
        service,
        createConnectTransport({
          httpVersion: "1.1",
          baseUrl: "http://localhost",
          nodeOptions: { socketPath: join(data, isReal ? "" : "sandbox", "admin.sock") },
        }),
      ),
  };
}
