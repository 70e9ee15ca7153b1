import { effectOf, runChange, trackEffect } from "../../../adapters/host/effect.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { createLimiter, type Limiter } from "../../../adapters/host/limiter.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import type { Mutation, MutationStep } from "../mutation.ts";
import { mutationChannel, stepChannel } from "../observation.ts";

/** Runs short mutations in this process, one at a time per resource. */
export interface InlineRunner {
  /**
   * Runs the steps that `describe` returns, in order. If one fails up to the point of no return, the completed steps are undone
   * in reverse order, and the failure is thrown with the effect that remains. A mutation runs to its end even if the caller has
   * left.
   * @param resource queue of the mutation: the resource that it changes, or one that it shares with others. `describe` runs at
   * the head of the queue, so that its checks see the effects of the previous mutation.
   * @param signal if aborted while the mutation is queued, the mutation does not begin
   * @throws InfraError BUSY, SHUTTING_DOWN, the signal's reason, and the errors of `describe` and the steps
   */
  run(resource: string, describe: () => Promise<Mutation>, signal: AbortSignal): Promise<Mutation>;
  /** Begins no more mutations, and resolves when none is running. */
  drain(): Promise<void>;
}

/** Maximum number of queued mutations, per resource and in total. */
const maxWaiting = { perResource: 128, inAll: 1024 };

/** @param onUndoFailed called when a step could not be undone; the original failure is still thrown */
export function createInlineRunner(
  onUndoFailed: (mutation: Mutation, step: MutationStep, error: unknown) => void,
): InlineRunner {
  /** Queues of the resources with running or queued mutations. */
  const turns = new Map<string, { readonly limiter: Limiter; mutations: number }>();
  let mutations = 0;
  let isDraining = false;

  async function perform(mutation: Mutation, onUndone: () => void): Promise<void> {
    const done: MutationStep[] = [];
    for (const [index, step] of mutation.steps.entries()) {
      try {
        await stepChannel.tracePromise(() => runChange(async () => step.forward()), { name: step.name });
      } catch (error) {
        const isUndone = index <= mutation.pointOfNoReturn && (await undo(mutation, done));
        if (isUndone && effectOf(error) === "none") {
          onUndone();
        }
        throw error;
      }
      done.push(step);
    }
  }

  /** Undoes the steps; returns whether all of them could be undone. */
  async function undo(mutation: Mutation, done: readonly MutationStep[]): Promise<boolean> {
    for (const step of done.toReversed()) {
      try {
        const { name, undo } = step;
        if (undo !== undefined) {
          await stepChannel.tracePromise(async () => undo(), { name: `undo ${name}` });
        }
      } catch (error) {
        onUndoFailed(mutation, step, error);
        return false;
      }
    }
    return true;
  }

  async function begin(describe: () => Promise<Mutation>): Promise<Mutation> {
    if (isDraining) {
      throw new InfraError(hostReasons.SHUTTING_DOWN, "the gateway is stopping; nothing was changed");
    }
    const mutation = await describe();
    const { kind, resource } = mutation;
    await mutationChannel.tracePromise(() => trackEffect((onUndone) => perform(mutation, onUndone)), {
      kind,
      resource,
    });
    return mutation;
  }

  /** @throws InfraError BUSY */
  function turnOf(resource: string): { readonly limiter: Limiter; mutations: number } {
    // For each resource, one mutation is running and not queued.
    if (turns.has(resource) && mutations - turns.size >= maxWaiting.inAll) {
      const message = `${maxWaiting.inAll} changes are already queued, which is the limit`;
      throw new InfraError(hostReasons.BUSY, message, { retryAfterMs: 1000 });
    }
    const turn = turns.get(resource) ?? {
      limiter: createLimiter({
        what: `changes of ${resource}`,
        queue: "mutations",
        maxRunning: 1,
        maxWaiting: maxWaiting.perResource,
      }),
      mutations: 0,
    };
    turns.set(resource, turn);
    return turn;
  }

  return {
    async run(resource, describe, signal) {
      const turn = turnOf(resource);
      turn.mutations += 1;
      mutations += 1;
      try {
        return await turn.limiter.run(() => begin(describe), signal);
      } finally {
        turn.mutations -= 1;
        mutations -= 1;
        if (turn.mutations === 0) {
          turns.delete(resource);
        }
      }
    },
    async drain() {
      isDraining = true;
      while (turns.size > 0) {
        await Promise.all([...turns.values()].map(({ limiter }) => limiter.idle()));
      }
    },
  };
}
