import { type ReadonlySignal, useComputed } from "@preact/signals";
import { type Operation, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { client } from "../session.ts";
import { latestOperations } from "./latest-operations.ts";
import { isOpenState, openStates } from "./open-state.ts";
import { upToDate } from "./operation-order.ts";
import { type Reading, useRead } from "./use-read.ts";

/** The largest page that the gateway returns. */
const pageSize = 1000;

/** The operations that are in progress or need attention, live, newest first: read once, then updated from events. */
export function useRunningOperations(): ReadonlySignal<Reading<readonly Operation[]>> {
  const { reading } = useRead(async (options) => {
    const states = [...openStates, OperationState.NEEDS_ATTENTION];
    return (await client.operations.listOperations({ states, pageSize }, options)).operations;
  });
  return useComputed(() => {
    const { value, ...rest } = reading.value;
    return { ...rest, value: value && upToDate(value, latestOperations.value.values(), isUnsettled) };
  });
}

function isUnsettled({ state }: Operation): boolean {
  return isOpenState(state) || state === OperationState.NEEDS_ATTENTION;
}
