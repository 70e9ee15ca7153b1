import { InfraError } from "../../host/infra-error.ts";
import type { Clock } from "../../sandbox/clock.ts";
import type { LogOptions, LogPiece } from "../adapter.ts";
import { podmanReasons } from "../reasons.ts";
import type { SandboxPods } from "./sandbox-pods.ts";
import { nextPrintNs, printedBy } from "./sandbox-program.ts";

export interface SandboxLogSource {
  readonly pods: SandboxPods;
  readonly onChange: (listener: () => void) => () => void;
  /** @throws InfraError during an outage */
  readonly assertReachable: () => void;
  readonly clock: Clock;
}

const nsPerMs = 1_000_000n;

/** Yields what a sandbox container printed. @throws InfraError as `PodRuntime.logs` */
export async function* readSandboxLogs(
  { pods, onChange, assertReachable, clock }: SandboxLogSource,
  containerId: string,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly LogPiece[], void> {
  const { sinceNs = 0n, untilNs, follow = false, streams = ["stdout", "stderr"] } = options;
  assertReachable();
  const each = pods.container(containerId);
  if (each === undefined) {
    throw new InfraError(podmanReasons.CONTAINER_NOT_FOUND, `no container with id ${containerId}`);
  }
  let readNs = sinceNs - 1n;
  let isPast = true;
  let changed = Promise.withResolvers<void>();
  const unsubscribe = onChange(() => changed.resolve());
  try {
    for (;;) {
      changed = Promise.withResolvers();
      // All later output has a later time.
      const nowNs = pods.nowNs();
      const endNs = untilNs !== undefined && untilNs <= nowNs ? untilNs - 1n : nowNs;
      // The last output is still delivered after the container is gone.
      const isGone = pods.container(containerId) === undefined;
      if (signal.aborted) {
        return;
      }
      let waitMs = 60_000;
      if (isReachable()) {
        const printed = printedBy(each.program, each.runs, { afterNs: readNs, untilNs: endNs });
        const pieces = printed.filter(({ stream }) => streams.includes(stream));
        readNs = endNs > readNs ? endNs : readNs;
        if (pieces.length > 0) {
          yield pieces;
        }
        if (follow && isPast) {
          isPast = false;
          yield [];
        }
        const nextNs = nextPrintNs(each.program, each.runs.at(-1), readNs);
        waitMs = nextNs === undefined ? waitMs : Number((nextNs - nowNs) / nsPerMs) + 1;
      }
      if (!follow || isGone || (untilNs !== undefined && untilNs <= nowNs)) {
        return;
      }
      const untilMs = untilNs === undefined ? waitMs : Number((untilNs - nowNs) / nsPerMs) + 1;
      const pause = clock.sleep(Math.max(1, Math.min(waitMs, untilMs)), signal);
      await Promise.race([pause.catch(() => {}), changed.promise]);
    }
  } finally {
    unsubscribe();
  }

  function isReachable(): boolean {
    try {
      assertReachable();
      return true;
    } catch {
      return false;
    }
  }
}
