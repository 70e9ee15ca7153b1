import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { type Operation, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { client } from "../session.ts";
import { dismissedOperations } from "./dismissed-operations.ts";
import { followRead, type Reading } from "./follow-read.ts";
import { latestOperations } from "./latest-operations.ts";
import { nowMs } from "./now.ts";
import { isOpenState, openStates } from "./open-state.ts";
import { upToDate } from "./operation-order.ts";

/** The largest page that the gateway returns. */
const pageSize = 1000;

/** A failed operation is shown for this long, unless it is dismissed. */
const shownFailedMs = 24 * 3_600_000;

const unread = { value: undefined, error: undefined, isReading: true } as const;
const read = signal<Reading<readonly Operation[]>>(unread);

/** Those that are in progress, need attention, or failed recently: read once, then updated from events. */
const current = computed(() => {
  const { value, ...rest } = read.value;
  const isListed = (operation: Operation) => isUnsettled(operation) || hasFailed(operation);
  return { ...rest, value: value && upToDate(value, latestOperations.value.values(), isListed) };
});

/** The operations that are in progress or need attention, live, newest first. */
export const unsettledOperations: ReadonlySignal<Reading<readonly Operation[]>> = computed(() => {
  const { value, ...rest } = current.value;
  return { ...rest, value: value?.filter(isUnsettled) };
});

/** The operations that failed in the last 24 hours and were not dismissed in this browser, live, newest first. */
export const failedOperations = computed<readonly Operation[]>(() =>
  (current.value.value ?? []).filter(
    (operation) =>
      hasFailed(operation) &&
      endedMs(operation) > nowMs.value - shownFailedMs &&
      (dismissedOperations.value.get(operation.id) ?? 0) < endedMs(operation),
  ),
);

/** Follows the operations until the returned function is called. */
export function followOperations(): () => void {
  const { end } = followRead(
    read,
    async (options) => {
      const states = [...openStates, OperationState.NEEDS_ATTENTION];
      // An operation may have been requested long before it failed.
      const from = timestampFromMs(Date.now() - 2 * shownFailedMs);
      const lists = await Promise.all([
        client.operations.listOperations({ states, pageSize }, options),
        client.operations.listOperations({ states: [OperationState.FAILED], from, pageSize }, options),
      ]);
      return lists.flatMap(({ operations }) => operations);
    },
    () => false,
  );
  return () => {
    end();
    read.value = unread;
  };
}

function isUnsettled({ state }: Operation): boolean {
  return isOpenState(state) || state === OperationState.NEEDS_ATTENTION;
}

function hasFailed({ state }: Operation): boolean {
  return state === OperationState.FAILED;
}

function endedMs({ endedAt }: Operation): number {
  return endedAt === undefined ? 0 : timestampMs(endedAt);
}
