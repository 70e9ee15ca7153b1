import { pathToFileURL } from "node:url";
import { test } from "tap";
import { root, type Started, start } from "../run-hostplane.ts";

/**
 * Starts a process whose gateway takes `closeMs` to close, like one that waits for a mutation.
 * @param launcherSignal signal that its launcher sends on as soon as it is stopping
 */
async function startStopping(closeMs: number, launcherSignal?: NodeJS.Signals): Promise<Started> {
  const module = pathToFileURL(`${root}/server/cli/serve/until-stopped.ts`).href;
  const program = `
    import { untilStopped } from ${JSON.stringify(module)};
    import { setTimeout as sleep } from "node:timers/promises";
    const say = (...said) => process.stdout.write(said.at(-1) + "\\n");
    const logger = { info: say, error: say };
    const timer = setInterval(() => {}, 1000);
    const gateway = {
      close: () => sleep(${closeMs}),
      reloadCertificates() { throw new Error("no file"); },
    };
    const signal = ${JSON.stringify(launcherSignal ?? null)};
    const stopped = untilStopped(gateway, logger, () => signal && setImmediate(() => process.emit("message", signal)));
    process.stdout.write("ready\\n");
    await stopped;
    clearInterval(timer);
    process.exit(0);`;
  const started = start([process.execPath, "--input-type=module", "-e", program]);
  await started.untilPrinted(/ready/);
  return started;
}

test("a signal that reaches the process and its launcher is one", async (t) => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const { child, ended } = await startStopping(100, signal);
    child.kill(signal);
    t.equal((await ended).code, 0, signal);
  }
});

test("a second signal ends the process at once", async (t) => {
  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const) {
    const { child, ended, untilPrinted } = await startStopping(60_000);
    child.kill(signal);
    await untilPrinted(/stopping/);
    const repeating = setInterval(() => child.kill(signal), 100);
    t.equal((await ended).code, code, signal);
    clearInterval(repeating);
  }
});

test("unreadable certificates leave the gateway unchanged", async (t) => {
  const { child, ended, untilPrinted } = await startStopping(0);
  child.kill("SIGHUP");
  await untilPrinted(/failed to reload certificates/);
  child.kill("SIGTERM");
  t.equal((await ended).code, 0);
});
