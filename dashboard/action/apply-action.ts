import { describeError } from "../../client/describe-error.ts";
import { showToast } from "../layout/toasts.tsx";
import { operationEnd } from "../live/operation-end.ts";
import type { Action } from "./action.ts";
import { runAction } from "./run-action.ts";

/** A change that takes longer is reported twice: that it runs, and how it ended. */
const shortMs = 700;
/** Changes made at a time, of several that were confirmed together. */
const parallel = 4;

/** A change that has begun. */
interface BegunAction {
  /** Operations that it started. */
  readonly operationIds: readonly string[];
  /** Rejects if it fails. */
  readonly ended: Promise<void>;
}

/**
 * Makes a change and reports its result by a toast.
 * @returns when the change has begun; a change without an operation, when it is made
 * @throws what the call throws before that
 */
export async function applyAction(action: Action): Promise<void> {
  const { operationIds, ended } = await beginAction(action);
  const [id] = operationIds;
  const link = id === undefined ? {} : { link: { text: "View", path: `/operations/${id}` } };
  void reportEnd(action.title, ended, link);
  if (id === undefined) {
    await ended;
  }
  void ended.then(action.onDone, () => {});
}

/** Makes several changes and reports their result by one toast; one that fails does not stop the others. */
export function applyActions(title: string, actions: readonly Action[]): void {
  const waiting = [...actions];
  const failures: unknown[] = [];
  const next = async (): Promise<void> => {
    for (let action = waiting.shift(); action !== undefined; action = waiting.shift()) {
      try {
        await (await beginAction(action)).ended;
        action.onDone?.();
      } catch (error) {
        failures.push(error);
      }
    }
  };
  const ended = Promise.all(Array.from({ length: parallel }, next)).then(() => {
    if (failures.length > 0) {
      const done = actions.length - failures.length;
      throw new Error(`${done} of ${actions.length} done. ${describeError(failures[0]).message}`);
    }
  });
  void reportEnd(title, ended, { link: { text: "View", path: "/operations" } });
}

async function beginAction(action: Action): Promise<BegunAction> {
  const begun = Promise.withResolvers<readonly string[]>();
  const answered = runAction(action, (ids) => begun.resolve(action.isFollowed ? ids : []));
  answered.then(() => begun.resolve([]), begun.reject);
  const operationIds = await begun.promise;
  const ended = (async () => {
    action.assertAnswer?.(await answered);
    await Promise.all(operationIds.map(operationEnd));
  })();
  return { operationIds, ended };
}

async function reportEnd(
  title: string,
  ended: Promise<void>,
  link: { readonly link?: { readonly text: string; readonly path: string } },
): Promise<void> {
  const timer = setTimeout(() => showToast({ text: `${title}: in progress`, ...link }), shortMs);
  try {
    await ended;
    showToast({ text: `${title}: done`, ...link });
  } catch (error) {
    const message =
      error instanceof Error && error.name === "Error" ? error.message : describeError(error).message;
    showToast({ text: `${title}: ${message}`, isError: true, ...link });
  } finally {
    clearTimeout(timer);
  }
}
