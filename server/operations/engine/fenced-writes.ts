import { setTimeout as delay } from "node:timers/promises";
import { hasReason } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { storeReasons } from "../../store/reasons.ts";
import type { Store } from "../../store/store.ts";
import type { CommandLog } from "../command-log.ts";
import type { Fenced, Written } from "../store/fenced-change.ts";
import type { operationStepTransactions } from "../store/steps.ts";
import type { Lease } from "./lease.ts";

type StepTransactions = typeof operationStepTransactions;
export type FencedName = keyof StepTransactions;
type ArgsOf<N extends FencedName> = Omit<Parameters<StepTransactions[N]>[1], keyof Fenced>;

/** `lost`: nothing was written, and the run must stop, because another gateway has the operation. */
export type WriteOutcome = "written" | "cancelled" | "lost";

/**
 * Records the progress of an operation. While the store is unreachable it retries until the lease ends. A write whose outcome
 * is unknown is repeated, which is idempotent.
 */
export type FencedWrite = <N extends FencedName>(name: N, args: ArgsOf<N>) => Promise<WriteOutcome>;

/** For tests: called with the name of each boundary in an operation's life. */
export type Boundary = (name: string) => void | Promise<void>;

const firstPauseMs = 20;
const longestPauseMs = 1000;

/**
 * @param owner instance ID of the gateway that holds the lease
 * @param commandLog the commands that ended since the last write, which stores them
 */
export function createFencedWrite(
  store: Pick<Store, "run">,
  owner: string,
  lease: Lease,
  commandLog: CommandLog,
  boundary: Boundary | undefined,
): FencedWrite {
  async function attempt(name: FencedName, args: object): Promise<Written> {
    const { id, fence } = lease;
    const ended = commandLog.take();
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const commands = ended.map(({ startedMs, ...command }) => ({
        ...command,
        startedMsAgo: Math.round(performance.now() - startedMs),
      }));
      try {
        return (await store.run(name, { ...args, id, owner, fence, commands } as never)) as Written;
      } catch (error) {
        const isUnavailable = hasReason(error, storeReasons.STORE_UNAVAILABLE);
        const isShuttingDown = hasReason(error, hostReasons.SHUTTING_DOWN);
        if (isShuttingDown || (isUnavailable && (await lease.isLost()))) {
          return { ok: false, why: "lost" };
        }
        if (!isUnavailable) {
          throw error;
        }
      }
      await delay(pauseMs * (0.5 + Math.random() / 2));
    }
  }

  return async (name, args) => {
    await boundary?.(`before ${name}`);
    const written = await attempt(name, args);
    await boundary?.(`after ${name}`);
    if (written.ok) {
      return "written";
    }
    if (written.why === "lost") {
      lease.lose();
    }
    return written.why;
  };
}
