import { effectOf, runChange, trackEffect } from "../../adapters/host/effect.ts";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { createLimiter, type Limiter } from "../../adapters/host/limiter.ts";
import type { Mutation, MutationStep } from "./mutation.ts";
import { mutationChannel, stepChannel } from "./observation.ts";

/** Runs short mutations in the process that was asked, one at a time for each resource. */
export interface InlineRunner {
  /**
   * Runs the steps that `describe` returns, in order. When one fails up to the point of no return, those done
   * are undone in reverse, and the failure is thrown with the effect that is left. It runs to its end whether or not anybody still waits.
   * @param resource whose turn it takes: what the mutation changes, or what it shares with others; `describe` runs
   *   once it is the resource's turn, so that its checks see what the mutation before it has done
   * @param signal a mutation whose caller has left before its turn is not begun
   * @throws InfraError BUSY, SHUTTING_DOWN, the signal's reason, and what `describe` and the steps throw
   */
  run(resource: string, describe: () => Promise<Mutation>, signal: AbortSignal): Promise<Mutation>;
  /** Begins no more mutations, and resolves when none runs any more. */
  drain(): Promise<void>;
}

/** How many mutations may wait for the turn of one resource, and of all. */
const maxWaiting = { perResource: 128, inAll: 1024 };

/**
 * @param onUndoFailed told when a step could not be taken back; the failure that began it is still thrown
 */
export function createInlineRunner(
  onUndoFailed: (mutation: Mutation, step: MutationStep, error: unknown) => void,
): InlineRunner {
  /** Of each resource that a mutation runs or waits for. */
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

  /** Returns whether all of them could be undone. */
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
      throw new InfraError("SHUTTING_DOWN", "the gateway is stopping; nothing was changed");
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
    // Of the mutations of each resource one does not wait.
    if (turns.has(resource) && mutations - turns.size >= maxWaiting.inAll) {
      const message = `${maxWaiting.inAll} changes are waiting for their turn already, which is the limit`;
      throw new InfraError("BUSY", message, { retryAfterMs: 1000 });
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
