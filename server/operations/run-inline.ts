import { InfraError } from "../../adapters/host/infra-error.ts";
import { waitChannel } from "../../adapters/host/observation.ts";
import type { Mutation, MutationStep } from "./mutation.ts";
import { mutationChannel, stepChannel } from "./observation.ts";

/** Runs short mutations in the process that was asked, one at a time for each resource. */
export interface InlineRunner {
  /**
   * Runs the steps that `describe` returns, in order. When one fails up to the point of no return, those done
   * are undone in reverse, and the failure is thrown. It runs to its end whether or not anybody still waits.
   * @param resource whose turn it takes: what the mutation changes, or what it shares with others; `describe` runs once it is the resource's turn, so
   *   that its checks see what the mutation before it has done
   * @param signal a mutation whose caller has left before its turn is not begun
   * @throws InfraError SHUTTING_DOWN, the signal's reason, and what `describe` and the steps throw
   */
  run(resource: string, describe: () => Promise<Mutation>, signal: AbortSignal): Promise<Mutation>;
  /** Begins no more mutations, and resolves when none runs any more. */
  drain(): Promise<void>;
}

/**
 * @param onUndoFailed told when a step could not be taken back; the failure that began it is still thrown
 */
export function createInlineRunner(
  onUndoFailed: (mutation: Mutation, step: MutationStep, error: unknown) => void,
): InlineRunner {
  const tails = new Map<string, Promise<void>>();
  let isDraining = false;

  async function perform(mutation: Mutation): Promise<void> {
    const done: MutationStep[] = [];
    for (const [index, step] of mutation.steps.entries()) {
      try {
        await stepChannel.tracePromise(async () => step.forward(), { name: step.name });
      } catch (error) {
        if (index <= mutation.pointOfNoReturn) {
          await undo(mutation, done);
        }
        throw error;
      }
      done.push(step);
    }
  }

  async function undo(mutation: Mutation, done: readonly MutationStep[]): Promise<void> {
    for (const step of done.toReversed()) {
      try {
        const { name, undo } = step;
        if (undo !== undefined) {
          await stepChannel.tracePromise(async () => undo(), { name: `undo ${name}` });
        }
      } catch (error) {
        onUndoFailed(mutation, step, error);
        return;
      }
    }
  }

  return {
    run(resource, describe, signal) {
      const before = tails.get(resource);
      const turn =
        before === undefined
          ? Promise.resolve()
          : waitChannel.tracePromise(() => before, { queue: "mutations" });
      const work = turn.then(async () => {
        if (isDraining) {
          throw new InfraError("SHUTTING_DOWN", "the gateway is stopping; nothing was changed");
        }
        signal.throwIfAborted();
        const mutation = await describe();
        const { kind, resource } = mutation;
        await mutationChannel.tracePromise(() => perform(mutation), { kind, resource });
        return mutation;
      });
      const tail = work.then(
        () => {},
        () => {},
      );
      tails.set(resource, tail);
      tail.then(() => {
        if (tails.get(resource) === tail) {
          tails.delete(resource);
        }
      });
      return work;
    },
    async drain() {
      isDraining = true;
      while (tails.size > 0) {
        await Promise.all(tails.values());
      }
    },
  };
}
