import { useComputed, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Link } from "wouter-preact";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { failedOperations, unsettledOperations } from "../../live/current-operations.ts";
import { latestOperations } from "../../live/latest-operations.ts";
import { isOpenState } from "../../live/open-state.ts";
import { Icon } from "../../parts/icon.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { isTrayOpen } from "../../shell/tray-state.ts";
import { FailedOperation } from "./failed-operation.tsx";
import { OperationLine, RunningOperation } from "./running-operation.tsx";
import { TrayTitle } from "./tray-title.tsx";

/** Operations shown of each sort; the operations page has all. */
const shownRunning = 8;
const shownFailed = 5;
const shownEnded = 3;

/**
 * Operations that are in progress, those that failed until they are dismissed, and some that ended since the page was opened, at the
 * bottom right. It does not block the page.
 */
export function Tray() {
  return isTrayOpen.value ? <OpenTray /> : null;
}

function OpenTray() {
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => element.current?.focus(), []);
  const unsettled = unsettledOperations.value.value ?? [];
  const running = runningFirst(unsettled.filter(({ state }) => isOpenState(state)));
  const failed = [
    ...unsettled.filter(({ state }) => state === OperationState.NEEDS_ATTENTION),
    ...failedOperations.value,
  ];
  const ended = useEnded().value;
  return (
    <section
      ref={element}
      class="tray"
      aria-label="Operations"
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          isTrayOpen.value = false;
        }
      }}
    >
      <header>
        <h2>Operations</h2>
        <span class="quiet">{countsText(running.length, failed.length)}</span>
        <Link href="~/operations" class="button bare small">
          All
        </Link>
        <button
          type="button"
          class="bare icon small"
          aria-label="Close the tray"
          onClick={() => {
            isTrayOpen.value = false;
          }}
        >
          <Icon name="down" />
        </button>
      </header>
      {running.length + failed.length + ended.length === 0 ? (
        <p class="empty">No operation is running.</p>
      ) : (
        <ul>
          <Running of={running} />
          {failed.slice(0, shownFailed).map((operation) => (
            <li key={operation.id} class="stack tight">
              <FailedOperation operation={operation} />
            </li>
          ))}
          <More count={running.length - shownRunning} what="in progress" />
          <More count={failed.length - shownFailed} what="failed" />
          {ended.map((operation) => (
            <li key={operation.id} class="row between">
              <TrayTitle operation={operation} />
              <span class="quiet small">
                <TimeText at={operation.endedAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** One of them with its steps: the one that the user opened, else the first; the others in one line. */
function Running({ of: operations }: { readonly of: readonly Operation[] }) {
  const openedId = useSignal<string | undefined>(undefined);
  const opened = operations.find(({ id }) => id === openedId.value) ?? operations[0];
  return (
    <>
      {operations.slice(0, shownRunning).map((operation) => (
        <li key={operation.id} class={operation === opened ? "stack tight" : undefined}>
          {operation === opened ? (
            <RunningOperation operation={operation} />
          ) : (
            <OperationLine
              operation={operation}
              onOpen={() => {
                openedId.value = operation.id;
              }}
            />
          )}
        </li>
      ))}
    </>
  );
}

function More({ count, what }: { readonly count: number; readonly what: string }) {
  return count <= 0 ? null : (
    <li>
      <Link href="~/operations">
        {count} more {what}
      </Link>
    </li>
  );
}

/** The operations that completed or were cancelled since the page was opened, newest first. */
function useEnded() {
  return useComputed<readonly Operation[]>(() =>
    [...latestOperations.value.values()]
      .filter(({ state }) => state === OperationState.COMPLETED || state === OperationState.CANCELLED)
      .reverse()
      .slice(0, shownEnded),
  );
}

/** Those that run before those that are queued; otherwise the oldest first, so that none moves when another begins. */
function runningFirst(operations: readonly Operation[]): readonly Operation[] {
  const isQueued = ({ state }: Operation) => state === OperationState.SCHEDULED;
  return operations.toReversed().sort((one, other) => Number(isQueued(one)) - Number(isQueued(other)));
}

function countsText(running: number, failed: number): string {
  return `${running} in progress${failed === 0 ? "" : `, ${failed} failed`}`;
}
