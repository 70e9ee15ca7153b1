import { signal } from "@preact/signals";
import { Link } from "wouter-preact";
import { type Operation, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { latestOperations } from "../live/latest-operations.ts";
import { isOpenState } from "../live/open-state.ts";
import { Icon } from "../parts/icon.tsx";
import { OperationFacts } from "../parts/operation-progress.tsx";

export const isTrayOpen = signal(false);

/** Ended operations that the tray keeps showing. */
const shownEnded = 5;

/** Operations in progress and those that ended since the page was opened, at the bottom right. It does not block the page. */
export function Tray({ operations }: { readonly operations: readonly Operation[] }) {
  if (!isTrayOpen.value) {
    return null;
  }
  const ids = new Set(operations.map(({ id }) => id));
  const ended = [...latestOperations.value.values()]
    .filter(({ id, state }) => !isOpenState(state) && !ids.has(id))
    .reverse()
    .slice(0, shownEnded);
  const running = operations.filter(({ state }) => state !== OperationState.NEEDS_ATTENTION).length;
  const shown = [...operations, ...ended];
  return (
    <section class="tray" aria-label="Operations">
      <header>
        <h2>Operations</h2>
        <span class="quiet">{running} in progress</span>
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
      {shown.length === 0 ? (
        <p class="empty">No operation runs.</p>
      ) : (
        <ul>
          {shown.map((operation) => (
            <li key={operation.id}>
              <OperationFacts operation={operation} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
