import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { test } from "tap";
import { root, type Started, start } from "../run-hostplane.ts";

/**
 * Starts a process whose gateway takes `closeMs` to close, like one that waits for a mutation.
 * @param echo signal that it gets as soon as it is stopping
 */
async function startStopping(closeMs: number, echo?: NodeJS.Signals): Promise<Started> {
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
    const echo = ${JSON.stringify(echo ?? null)};
    const stopped = untilStopped(gateway, logger, () => echo && process.kill(process.pid, echo));
    process.stdout.write("ready\\n");
    await stopped;
    clearInterval(timer);
    process.exit(0);`;
  const started = start([process.execPath, "--input-type=module", "-e", program]);
  await started.untilPrinted(/ready/);
  return started;
}

test("waits for the gateway to close, even when the signal arrives twice", async (t) => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const { child, ended } = await startStopping(600, signal);
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
    await sleep(400);
    child.kill(signal);
    t.equal((await ended).code, code, signal);
  }
});

test("unreadable certificates leave the gateway unchanged", async (t) => {
  const { child, ended, untilPrinted } = await startStopping(0);
  child.kill("SIGHUP");
  await untilPrinted(/failed to reload certificates/);
  child.kill("SIGTERM");
  t.equal((await ended).code, 0);
});
