import { describeError } from "../../client/describe-error.ts";
import { OperationFailed } from "../../client/operation-failed.ts";
import { operationEnd } from "../live/operation-end.ts";
import { showToast, type Toast } from "../shell/toasts.tsx";
import { isTrayOpen } from "../shell/tray-state.ts";
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

/** What the toasts say about a change. */
interface Reported {
  readonly title: string;
  readonly doneText?: string | undefined;
  /** Where to see more once it has ended. */
  readonly path?: string | undefined;
}

/**
 * Makes a change and reports its result by a toast. One that other people have to approve is reported as waiting.
 * @returns when the change has begun; a change without an operation, when it is made
 * @throws what the call throws before that
 */
export async function applyAction(action: Action): Promise<void> {
  const { title, doneText } = action;
  let begun: BegunAction;
  try {
    begun = await beginAction(action);
  } catch (error) {
    const { reason, metadata } = describeError(error);
    if (reason !== "APPROVAL_REQUIRED" || metadata.plan === undefined) {
      throw error;
    }
    showToast({
      text: `${title}: waits for approval`,
      link: { text: "View", path: `/plans/${metadata.plan}` },
    });
    return;
  }
  const { operationIds, ended } = begun;
  const [id] = operationIds;
  void reportEnd({ title, doneText, path: id === undefined ? undefined : `/operations/${id}` }, ended);
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
      throw new Error(`${done} of ${actions.length} done. ${messageOf(failures[0])}`);
    }
  });
  void reportEnd({ title, path: "/operations" }, ended);
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
  { title, doneText = `${title}: done`, path }: Reported,
  ended: Promise<void>,
): Promise<void> {
  let closeProgress = () => {};
  const timer = setTimeout(() => {
    closeProgress = showToast({
      text: `${title}: in progress`,
      ...(path === undefined ? {} : { link: trayLink }),
    });
  }, shortMs);
  const link = (text: string): Pick<Toast, "link"> => (path === undefined ? {} : { link: { text, path } });
  try {
    await ended;
    showToast({ text: doneText, ...link("View") });
  } catch (error) {
    showToast({ text: `${title}: ${messageOf(error)}`, isError: true, ...link("Open") });
  } finally {
    clearTimeout(timer);
    closeProgress();
  }
}

const trayLink = {
  text: "View",
  run: () => {
    isTrayOpen.value = true;
  },
};

function messageOf(error: unknown): string {
  const failure = error instanceof OperationFailed ? error.operation.error?.message : undefined;
  return failure ?? describeError(error).message;
}
