import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import type { Clocks } from "../reconcile/clocks.ts";
import { beginRead } from "./begin-read.ts";
import { judgeMachine, type SeenMachine } from "./judge-machine.ts";
import type { MachineReader } from "./read-machines.ts";
import type { Survey } from "./survey.ts";

export interface StrayLog {
  info?(message: string): void;
  warn(message: string, cause?: unknown): void;
}

export interface SweepOptions {
  readonly maas: Pick<MaasAdapter, "release">;
  readonly reader: Pick<MachineReader, "again">;
  readonly survey: (signal: AbortSignal) => Promise<Survey>;
  readonly log: StrayLog;
  readonly clocks: Clocks;
}

/**
 * Searches for strays, logs each once until its facts change, and releases those that may be released.
 * @throws InfraError as MAAS and the store do during the survey, and the signal's reason
 */
export type Sweep = (signal: AbortSignal) => Promise<void>;

/** @param options `survey`: reads and judges all machines of the account; `log`: a line for each stray and each release */
export function createSweep({ maas, reader, survey, log, clocks }: SweepOptions): Sweep {
  let logged: ReadonlySet<string> = new Set();

  function logStrays({ strays, releasable, reportOnlyBecause }: Survey): void {
    const leaving = new Set(releasable.map(({ machine }) => machine.systemId));
    const lines = strays
      .filter(({ systemId }) => !leaving.has(systemId))
      .map(
        ({ systemId, maasStatus, message }) =>
          `machine ${systemId} (${maasStatus}) belongs to no cluster: ${message}`,
      );
    if (reportOnlyBecause !== undefined) {
      lines.unshift(`no machine is released automatically: ${reportOnlyBecause}`);
    }
    for (const line of lines.filter((each) => !logged.has(each))) {
      log.warn(line);
    }
    logged = new Set(lines);
  }

  async function giveBack(seen: SeenMachine, signal: AbortSignal): Promise<void> {
    const { systemId } = seen.machine;
    try {
      const read = beginRead(clocks, systemId);
      const now = await reader.again(seen, signal);
      // A slot may have allocated it, or another user may have started to install it.
      const verdict = now === undefined ? undefined : judgeMachine(now.seen, now.known, false);
      if (verdict?.is !== "stray" || !verdict.isReleasable || signal.aborted) {
        return;
      }
      read.assertFresh();
      await maas.release(systemId, { comment: `no hostplane cluster uses it: ${verdict.message}` });
      log.info?.(`machine ${systemId} is released to MAAS: ${verdict.message}`);
    } catch (error) {
      if (!signal.aborted) {
        log.warn(`failed to release stray machine ${systemId}`, error);
      }
    }
  }

  return async (signal) => {
    const found = await survey(signal);
    logStrays(found);
    for (const seen of found.releasable) {
      await giveBack(seen, signal);
    }
  };
}
