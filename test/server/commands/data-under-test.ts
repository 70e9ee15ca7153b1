import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { type Ended, hostplane, type Started, serveSandbox } from "./run-hostplane.ts";
import { runInProcess } from "./run-in-process.ts";

/** A data directory with the sandbox' store in it, and `hostplane` on it. */
export async function dataWithStore(t: Test) {
  // Short: the path of a socket is limited.
  const data = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const target = ["--data", data, "--sandbox"];
  const end = (args: readonly string[], input?: string): Promise<Ended> =>
    input === undefined ? runInProcess([...args, ...target]) : hostplane([...args, ...target], {}, input);
  return {
    data,
    /** Runs a command, which must succeed; returns its stdout. One that reads `input` has a process of its own. */
    async run(args: readonly string[], input?: string): Promise<string> {
      const { code, stdout, stderr } = await end(args, input);
      t.equal(code, 0, `${args.join(" ")}: ${stderr}`);
      return stdout;
    },
    /** Runs a command that may fail. */
    refused: end,
    /** Runs a command in a process of its own. */
    inOwnProcess: (args: readonly string[]) => hostplane([...args, ...target]),
    async serve(): Promise<Started> {
      const gateway = serveSandbox(["--data", data]);
      t.teardown(() => gateway.child.kill("SIGKILL"));
      await gateway.untilPrinted(/^\s*curl .*\n/m);
      return gateway;
    },
  };
}

/** Ends a gateway, and waits for it. */
export async function stop(gateway: Started, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  gateway.child.kill(signal);
  await gateway.ended;
}

export type Data = Awaited<ReturnType<typeof dataWithStore>>;
