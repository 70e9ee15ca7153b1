import { AsyncLocalStorage } from "node:async_hooks";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { createCommandLog } from "../command-log.ts";
import { operationChannel } from "../observation.ts";
import type { Json } from "../operation.ts";
import { reportEnd } from "../operation-end.ts";
import type { CheckOperationPlan } from "../operations.ts";
import type { OperationsOptions } from "../operations-options.ts";
import type { ClaimArgs } from "../store/claims.ts";
import { type ClaimedOperation, createClaims } from "./claims.ts";
import { createFencedWrite } from "./fenced-writes.ts";
import { createLeases } from "./lease.ts";
import type { AnyKind, OperationRun } from "./operation-run.ts";
import { createRedaction, openSecrets } from "./operation-secrets.ts";
import { withPlanStep } from "./plan-step.ts";
import { giveUpSealed, runOperation } from "./run-operation.ts";

/** Claims and runs the operations that this gateway supports. */
export interface OperationWorker {
  begin(): void;
  /** Checks for work after a change on this gateway. */
  wake(): void;
  /** Releases the running operations, and resolves once none is running. */
  close(): Promise<void>;
}

const defaultFirstPauseMs = 1000;

/** @param kinds kinds of this gateway by name; complete before `begin` */
export function createOperationWorker(
  options: OperationsOptions,
  kinds: ReadonlyMap<string, AnyKind>,
  checkPlan: CheckOperationPlan,
): OperationWorker {
  const { store, instance, limits, log, seal, boundary, firstPauseMs = defaultFirstPauseMs } = options;
  const { instanceId, host } = instance;
  const { leaseMs, perSystem } = limits;
  const closing = new AbortController();
  // An operation must not run in the async context of the call that happened to trigger its claim.
  const outside = AsyncLocalStorage.snapshot();
  const running = new Set<Promise<void>>();
  let hasSettledCommands = false;
  const onStore = createOutageLog(log);

  const leases = createLeases(
    async (held) => {
      const renewed = await store.run("operations.renew", { instanceId, host, leases: held, leaseMs });
      onStore(undefined);
      return renewed;
    },
    leaseMs,
    onStore,
    graceMs,
  );

  function graceMs(): number {
    // While stopping, do not wait for a store that is down.
    if (closing.signal.aborted) {
      return 0;
    }
    // No other gateway can take an operation from a single-gateway store.
    return store.isShared ? leaseMs : Number.POSITIVE_INFINITY;
  }

  function claimArgs(): ClaimArgs {
    return {
      instanceId,
      host,
      kinds: [...kinds.values()].map(({ kind, steps }) => ({ kind, steps: steps.map(({ name }) => name) })),
      unlimitedKinds: [...kinds.values()].flatMap(({ kind, followsChange }) =>
        followsChange === true ? kind : [],
      ),
      runningIds: leases.ids,
      isAlone: !store.isShared,
      perSystem,
      leaseMs,
    };
  }

  // A poll only reads, which works on a full disk, so its success does not end an outage.
  const onPolled = (error: unknown) => error === undefined || onStore(error);
  const claims = createClaims(store, leases, leaseMs, claimArgs, start, onPolled);

  function start(claimed: ClaimedOperation, sinceMs: number): void {
    const { id, kind, resource } = claimed.operation;
    const run = outside(() =>
      operationChannel.tracePromise(() => runClaimed(claimed, sinceMs), { id, kind, resource }),
    );
    const ended = run.catch((error: unknown) =>
      log.warn(`operation ${id} stopped, and will be resumed after its lease expires`, error),
    );
    running.add(ended);
    void ended.then(() => running.delete(ended));
  }

  async function runClaimed(claimed: ClaimedOperation, sinceMs: number): Promise<void> {
    const { operation, fence, secretsSealed } = claimed;
    const { id } = operation;
    const lease = leases.hold({ id, fence }, sinceMs);
    try {
      if (operation.isCancelRequested) {
        lease.cancel();
      }
      const run = runOf(claimed, lease);
      let secrets: Json;
      try {
        secrets = openSecrets(seal, secretsSealed, id);
      } catch (error) {
        await giveUpSealed(run, error);
        return await reportEnd(store, log, id);
      }
      await settleEarlierRun(run);
      const end = await runOperation({ ...run, secrets, redact: createRedaction(secrets) });
      if (end === "released") {
        await store.run("operations.release", { id, owner: instanceId, fence });
      } else if (end === "lost") {
        log.warn(`operation ${id} was left to another gateway or to a later start`);
      } else {
        await reportEnd(store, log, id);
      }
    } finally {
      lease.drop();
      claims.wake();
    }
  }

  /** Waits for tools of an earlier gateway that still run on this host. An aborted signal ends the wait. */
  async function settleEarlierRun({ kind, operation, lease }: OperationRun): Promise<void> {
    if (kind.runsOn !== "host") {
      return;
    }
    const stopped = AbortSignal.any([closing.signal, lease.lost]);
    if (operation.steps.some(({ state }) => state !== "pending")) {
      await options.settleLeftTools?.(stopped);
    } else if (!hasSettledCommands) {
      await options.settleLeftCommands?.(stopped);
      hasSettledCommands ||= !stopped.aborted;
    }
  }

  /** Builds the run without the secrets. */
  function runOf(claimed: ClaimedOperation, lease: ReturnType<typeof leases.hold>): OperationRun {
    const { operation, isPastReturn, outputs, plan } = claimed;
    const kind = kinds.get(operation.kind);
    if (kind === undefined) {
      throw new Error(`the gateway does not support the operation kind ${operation.kind}`);
    }
    const commandLog = createCommandLog(host);
    return {
      kind: plan === undefined ? kind : withPlanStep(kind, operation, plan, checkPlan),
      operation,
      secrets: null,
      redact: (text) => text,
      outputs: new Map(Object.entries(outputs).map(([name, json]) => [name, JSON.parse(json) as Json])),
      steps: new Map(operation.steps.map(({ name, state, attempt }) => [name, { state, attempt }])),
      isPastReturn,
      lease,
      write: createFencedWrite(store, instanceId, lease, commandLog, boundary),
      commandLog,
      closing: closing.signal,
      firstPauseMs,
      onFault: (what, error) => log.warn(`operation ${operation.id}: ${what} failed`, error),
      boundary,
    };
  }

  return {
    begin() {
      leases.begin();
      claims.begin();
    },
    wake: claims.wake,
    async close() {
      await claims.close();
      closing.abort(
        new InfraError(hostReasons.SHUTTING_DOWN, "the gateway is stopping; the operation continues later"),
      );
      await Promise.all(running);
      leases.close();
    },
  };
}

/** Returns a callback that logs the start and the end of a store outage. Called with undefined when the store has answered. */
function createOutageLog(log: OperationsOptions["log"]): (error: unknown) => void {
  let isOut = false;
  return (error) => {
    if (error !== undefined && !isOut) {
      log.warn("operations are paused: the store does not answer; retrying", error);
    } else if (error === undefined && isOut) {
      log.info("operations resumed: the store answers again");
    }
    isOut = error !== undefined;
  };
}
