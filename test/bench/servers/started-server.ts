import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { get } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Returns the argv of a server that listens on the given port of loopback and stores its data in the directory. */
export type ServerArgv = (port: number, directory: string) => [string, ...string[]];

/** A server in a separate process. */
export interface StartedServer {
  readonly port: number;
  readonly pid: number;
  /** Milliseconds from its start until it was ready. */
  readonly startMs: number;
  stop(): Promise<void>;
}

const pollMs = 2;

/**
 * Starts a server in a new directory, and waits until it is ready. By default, that is when it answers `/healthz`.
 * @throws Error when it ends before that
 */
export async function startServer(
  argvOf: ServerArgv,
  isReady: (port: number) => Promise<boolean> = isAnswering,
): Promise<StartedServer> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
  const port = await freePort();
  const [program, ...args] = argvOf(port, directory);
  const beganAtMs = performance.now();
  const child = spawn(program, args, { stdio: "ignore" });
  const exited = once(child, "exit");
  async function stop(): Promise<void> {
    child.kill("SIGTERM");
    await exited;
    await rm(directory, { recursive: true });
  }
  while (!(await isReady(port))) {
    if (child.exitCode !== null || child.signalCode !== null) {
      await stop();
      throw new Error(`${program} ended with ${child.exitCode ?? child.signalCode}`);
    }
    await delay(pollMs);
  }
  return { port, pid: child.pid ?? 0, startMs: performance.now() - beganAtMs, stop };
}

function isAnswering(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: "127.0.0.1", port, path: "/healthz", agent: false }, (answer) => {
      answer.resume().once("end", () => resolve(answer.statusCode === 200));
    }).once("error", () => resolve(false));
  });
}

/** Returns a port of loopback on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
