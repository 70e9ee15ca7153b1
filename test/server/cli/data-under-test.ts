import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { type Ended, hostplane, type Started, serveSandbox } from "./run-hostplane.ts";
import { runInProcess, type StartedInProcess, startInProcess } from "./run-in-process.ts";

/** Creates a data directory for a sandbox, and functions that run `hostplane` on it. */
export async function dataWithStore(t: Test) {
  // Short, since the length of a socket's path is limited.
  const data = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const target = ["--data", data, "--sandbox"];
  const end = (args: readonly string[], input?: string): Promise<Ended> =>
    runInProcess([...args, ...target], input === undefined ? {} : { input });
  return {
    data,
    /** Runs a command that must succeed and returns its stdout. */
    async run(args: readonly string[], input?: string): Promise<string> {
      const { code, stdout, stderr } = await end(args, input);
      t.equal(code, 0, `${args.join(" ")}: ${stderr}`);
      return stdout;
    },
    /** Runs a command that may fail. */
    refused: end,
    /** Starts a command that follows something, until the gateway stops. */
    follow: (args: readonly string[]): StartedInProcess => startInProcess([...args, ...target]),
    /** Runs a command in a separate process. */
    inOwnProcess: (args: readonly string[]) => hostplane([...args, ...target]),
    async serve(): Promise<Started> {
      const gateway = serveSandbox(["--data", data]);
      t.teardown(() => gateway.child.kill("SIGKILL"));
      await gateway.untilPrinted(/^\s*curl .*\n/m);
      return gateway;
    },
  };
}

/** Stops a gateway and waits until it has exited. */
export async function stop(gateway: Started, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  gateway.child.kill(signal);
  await gateway.ended;
}

export type Data = Awaited<ReturnType<typeof dataWithStore>>;
