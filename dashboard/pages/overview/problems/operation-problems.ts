import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Operation, OperationState } from "../../../../gen/hostplane/v1/operation_pb.ts";
import { operationTitle } from "../../../parts/text/operation-title.ts";
import { type Problem, ranks } from "./problem.ts";

/** Returns the problems of operations that need attention, and of those that failed. */
export function operationProblems(
  unsettled: readonly Operation[],
  failed: readonly Operation[],
): readonly Problem[] {
  return [
    ...unsettled.filter(({ state }) => state === OperationState.NEEDS_ATTENTION).map(attentionProblem),
    ...failed.map(failedProblem),
  ];
}

function attentionProblem(operation: Operation): Problem {
  const { attention, error } = operation;
  const [left, advice] = [attention?.left[0], attention?.advice[0]];
  return {
    ...problemOf(operation),
    severity: "failed",
    rank: ranks.attention,
    title: `${operationTitle(operation)} needs attention`,
    cause: [left ?? error?.message, advice].filter((sentence) => sentence !== undefined).join(". "),
  };
}

function failedProblem(operation: Operation): Problem {
  return {
    ...problemOf(operation),
    severity: "failed",
    rank: ranks.operation,
    title: `${operationTitle(operation)} failed`,
    cause: operation.error?.message ?? operation.message,
  };
}

function problemOf(operation: Operation) {
  const { id, host, endedAt, startedAt } = operation;
  const at = endedAt ?? startedAt;
  return {
    key: id,
    place: host,
    sinceMs: at === undefined ? undefined : timestampMs(at),
    path: `/operations/${id}`,
    operation,
  };
}
