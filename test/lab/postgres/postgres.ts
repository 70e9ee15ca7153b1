import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { appendFile, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import type { Test } from "tap";
import { freePort } from "../../server/harness/free-port.ts";

/** Where a cluster runs; by default here, on loopback. */
export interface PostgresPlace {
  /** Address that it listens on. */
  readonly address: string;
  /** Before a command: runs it there. */
  readonly launcher: readonly string[];
}

/** A PostgreSQL used only by the test, on a port of loopback and a unix socket in a temporary directory. */
export interface PostgresCluster {
  /** Creates an empty database. Returns its URL, with a password of special characters. */
  createDatabase(): Promise<string>;
  /** Runs SQL as the superuser, in the database of `url`, or in `postgres`. */
  query(sql: string, url?: string): Promise<Record<string, unknown>[]>;
  /** Kills every process at once, like a power failure of the machine, and waits until they are gone. */
  kill(): Promise<void>;
  /** Stops it gracefully, and waits until it is gone. */
  stop(): Promise<void>;
  /** Starts it again on the same port, and waits until it responds. */
  start(): Promise<void>;
}

/** Unescaped, for tests that search for it. */
export const postgresPassword = "s3cr3t p@ss/w%rd";

const user = "hostplane";
/** The uid of `nobody`, because PostgreSQL refuses to run as root. */
const unprivileged = 65534;
const runFile = promisify(execFile);

/** Returns why no PostgreSQL can be started here; false if one can. Throws instead when HOSTPLANE_LAB=required. */
export function reasonToSkipPostgres(): string | false {
  const reason = binaries() === undefined ? "PostgreSQL is not installed (Debian: postgresql)" : false;
  if (reason !== false && process.env.HOSTPLANE_LAB === "required") {
    throw new Error(`HOSTPLANE_LAB=required, but ${reason}`);
  }
  return reason;
}

/** Debian installs the binaries outside PATH, by version; the newest is used. */
function binaries(): string | undefined {
  const base = "/usr/lib/postgresql";
  const versions = existsSync(base) ? readdirSync(base).map(Number).filter(Number.isFinite) : [];
  const debian = versions.toSorted((a, b) => b - a).map((version) => join(base, String(version), "bin"));
  const folders = [...debian, ...(process.env.PATH ?? "").split(":")];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

/** Creates and starts a cluster that is destroyed with the test. */
export async function startPostgres(
  t: Test,
  { address, launcher }: PostgresPlace = { address: "127.0.0.1", launcher: [] },
): Promise<PostgresCluster> {
  const bin = binaries() ?? "";
  const directory = await mkdtemp(join(tmpdir(), "hostplane-postgres-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const data = join(directory, "data");
  const port = await freePort();
  await initialize(bin, directory, data);
  await appendFile(join(data, "pg_hba.conf"), `host all all ${address}/16 scram-sha-256\n`);

  let server: ChildProcess | undefined;
  let createdDatabases = 0;
  const urlOf = (database: string) =>
    `postgres://${user}:${encodeURIComponent(postgresPassword)}@${address}:${port}/${database}`;

  async function start(): Promise<void> {
    const settings = { port, listen_addresses: address, unix_socket_directories: directory };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    // The server ends with the test's process, even if that is killed.
    const [command = "", ...args] = [
      ...launcher,
      ...asUnprivileged(["--pdeathsig", "INT"], [join(bin, "postgres"), "-D", data, ...options]),
    ];
    const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"], cwd: directory });
    server = child;
    await untilReady(child);
  }

  async function end(terminate: (pid: number) => void): Promise<void> {
    const child = server;
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit");
      terminate(child.pid);
      await gone;
    }
  }

  async function query(sql: string, url = urlOf("postgres")): Promise<Record<string, unknown>[]> {
    const client = new Client({
      host: directory,
      port,
      user,
      password: postgresPassword,
      database: new URL(url).pathname.slice(1),
    });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  await start();
  const stop = () => end((pid) => process.kill(pid, "SIGINT"));
  t.teardown(stop);
  return {
    async createDatabase() {
      createdDatabases += 1;
      const name = `test${createdDatabases}`;
      await query(`create database ${name}`);
      return urlOf(name);
    },
    query,
    async kill() {
      let processes: readonly number[] = [];
      await end((pid) => {
        // Stopped first, so that it starts no more processes while they are listed.
        process.kill(pid, "SIGSTOP");
        const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
        processes = [pid, ...children.filter(Boolean).map(Number)];
        for (const each of processes) {
          process.kill(each, "SIGKILL");
        }
      });
      // The server does not start while one of them is attached to their shared memory.
      while (processes.some((pid) => existsSync(`/proc/${pid}`))) {
        await delay(5);
      }
    },
    stop,
    start,
  };
}

async function initialize(bin: string, directory: string, data: string): Promise<void> {
  const passwordFile = join(directory, "password");
  await writeFile(passwordFile, postgresPassword);
  if (process.getuid?.() === 0) {
    await chown(directory, unprivileged, unprivileged);
    await chown(passwordFile, unprivileged, unprivileged);
  }
  const options = ["--auth=scram-sha-256", `--pwfile=${passwordFile}`, `--username=${user}`];
  const encoding = ["--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"];
  const [command = "", ...args] = asUnprivileged(
    [],
    [join(bin, "initdb"), "-D", data, ...options, ...encoding],
  );
  await runFile(command, args, { cwd: directory });
}

function asUnprivileged(options: readonly string[], command: readonly string[]): string[] {
  const change = [`--reuid=${unprivileged}`, `--regid=${unprivileged}`, "--clear-groups"];
  return ["setpriv", ...(process.getuid?.() === 0 ? change : []), ...options, ...command];
}

async function untilReady(child: ChildProcess): Promise<void> {
  let seen = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      seen = (seen + text).slice(-4000);
      if (seen.includes("ready to accept connections")) {
        resolve();
      }
    });
    child.once("exit", () => reject(new Error(`postgres did not start: ${seen}`)));
  });
}
