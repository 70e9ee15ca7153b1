import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { hostplane, type Started, serveSandbox } from "./run-hostplane.ts";

/** A data directory with the sandbox' store in it, and `hostplane` on it. */
export async function dataWithStore(t: Test) {
  // Short: the path of a socket is limited.
  const data = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const target = ["--data", data, "--sandbox"];
  return {
    data,
    /** Runs a command, which must succeed; returns what it prints. */
    async run(args: readonly string[], input?: string): Promise<string> {
      const { code, stdout, stderr } = await hostplane([...args, ...target], {}, input);
      t.equal(code, 0, `${args.join(" ")}: ${stderr}`);
      return stdout;
    },
    refused: (args: readonly string[], input?: string) => hostplane([...args, ...target], {}, input),
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
