import type { Snapshot } from "../../adapters/host/snapshot.ts";
import type { InlineRunner } from "../operations/engine/run-inline.ts";
import type { Mutation, PlannedMutation } from "../operations/mutation.ts";
import type { Operations } from "../operations/operations.ts";
import type { Change, ChangeRequester } from "./change.ts";
import { checkTwice } from "./check-twice.ts";

/** The resources that a change touches. */
export interface ChangeTarget {
  /** The resource that changes, as in events and operations. */
  readonly resource: string;
  /** Resources that it reads; no operation may be working on them either. */
  readonly sources?: readonly string[];
  /** Changes with the same queue run one at a time. Default: the resource. */
  readonly queue?: string;
}

/**
 * A change that takes seconds at most, so that the call waits for it. Longer changes are operations.
 *
 * `parse`, `check` and `preflight` are checks; only the steps that `check` returns change anything.
 */
export interface ShortChange<Request, Spec, State> {
  /**
   * Validates everything that does not depend on the state.
   * @throws InfraError
   */
  parse(request: Request, requester: Pick<ChangeRequester, "peer">): Spec;
  targetOf(spec: Spec): ChangeTarget;
  /**
   * Checks the change against the state, and describes its plan and its steps with their undo.
   * @throws InfraError
   */
  check(spec: Spec, state: State): Mutation;
  /**
   * Rejects what the system would reject when the steps run, as far as the state shows it. Called where nothing runs: by plans,
   * and before an operation begins. Absent: the system rejects nothing else.
   * @throws InfraError
   */
  preflight?(spec: Spec, state: State): void;
}

/** A short change that checks more than the state. */
export interface ReadingChange<Request, Spec, State>
  extends Omit<ShortChange<Request, Spec, State>, "check"> {
  /** As `ShortChange.check`; it may also read what the state does not contain. @throws InfraError */
  check(spec: Spec, state: State): Mutation | Promise<Mutation>;
}

/** A short change whose request names its resource in a way that only the state explains. */
export interface LocatedChange<Request, Spec, State> extends ReadingChange<Request, Spec, State> {
  /**
   * Adds to the spec what the state says about the resource, before the change is queued.
   * @throws InfraError
   */
  locate(spec: Spec, state: State): Spec;
}

/** A system whose state is observed, as short changes use it. */
export interface ChangedSystem<State> {
  read(): Promise<Snapshot<State>>;
  refresh(signal?: AbortSignal): Promise<Snapshot<State>>;
  /** Resolves when no command of an earlier gateway changes the system any more. @throws InfraError SHUTTING_DOWN */
  settled?(): Promise<void>;
}

export interface ShortChangesOptions<State> {
  readonly system: ChangedSystem<State>;
  readonly runner: InlineRunner;
  readonly operations: Pick<Operations, "assertFree">;
}

/**
 * Makes a change of a system executable.
 * @param respond builds the response once the change is made. A state that cannot be read any more must not fail it.
 */
export type CreateChange<State> = <Request, Spec, Response>(
  change: ReadingChange<Request, Spec, State> | LocatedChange<Request, Spec, State>,
  respond: (spec: Spec, mutation: Mutation) => Promise<Response>,
) => Change<Request, Promise<Response>, ChangeRequester>;

/**
 * Returns a function that makes changes of a system executable. A change is checked against the state of the moment at which it
 * is its turn. It does not run if its caller has left by then, or if an operation works on one of its resources.
 */
export function createShortChanges<State>(options: ShortChangesOptions<State>): CreateChange<State> {
  const { system, runner, operations } = options;

  /** @throws InfraError OPERATION_IN_PROGRESS */
  async function assertFree({ resource, sources = [] }: ChangeTarget): Promise<void> {
    for (const each of [resource, ...sources]) {
      await operations.assertFree(each);
    }
  }

  return <Request, Spec, Response>(
    change: ReadingChange<Request, Spec, State> | LocatedChange<Request, Spec, State>,
    respond: (spec: Spec, mutation: Mutation) => Promise<Response>,
  ): Change<Request, Promise<Response>, ChangeRequester> => {
    const { parse, targetOf, preflight } = change;
    const locate = "locate" in change ? change.locate : undefined;
    const refresh = () => system.refresh();

    async function located(spec: Spec): Promise<Spec> {
      return locate === undefined
        ? spec
        : checkTwice(await system.read(), ({ value }) => locate(spec, value), { refresh, finalBelowMs: 0 });
    }

    return {
      async plan(request, requester): Promise<PlannedMutation> {
        const parsed = parse(request, requester);
        const { value: state } = await system.refresh(requester.signal);
        const spec = locate === undefined ? parsed : locate(parsed, state);
        await assertFree(targetOf(spec));
        const mutation = await change.check(spec, state);
        if (mutation.steps.length > 0) {
          preflight?.(spec, state);
        }
        return mutation;
      },
      async run(request, requester) {
        const spec = await located(parse(request, requester));
        const target = targetOf(spec);
        requester.noteResource(target.resource);
        const checkNow = async () => {
          // Before the state is read, so that the checks see the results of those commands.
          await system.settled?.();
          requester.signal.throwIfAborted();
          await assertFree(target);
          const { appliedPlan } = requester;
          const snapshot = await (appliedPlan === undefined ? system.read() : refresh());
          const mutation = await checkTwice(snapshot, ({ value }) => change.check(spec, value), {
            refresh,
            finalBelowMs: 0,
          });
          appliedPlan?.assertSame(mutation);
          return mutation;
        };
        const queue = target.queue ?? target.resource;
        return respond(spec, await runner.run(queue, checkNow, requester.signal));
      },
    };
  };
}
