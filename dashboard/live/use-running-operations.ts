import type { ReadonlySignal } from "@preact/signals";
import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";
import { unsettledOperations } from "./current-operations.ts";
import type { Reading } from "./follow-read.ts";

/** The operations that are in progress or need attention, live, newest first. */
export function useRunningOperations(): ReadonlySignal<Reading<readonly Operation[]>> {
  return unsettledOperations;
}
