import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Operation, OperationState } from "../../../../gen/hostplane/v1/operation_pb.ts";
import { operationTitle } from "../../../parts/text/operation-title.ts";
import { type Problem, ranks } from "./problem.ts";

/**
 * Returns the problems of operations that need attention, and of those that failed: one for each change of a resource, however
 * often it failed.
 * @param failed newest first
 */
export function operationProblems(
  unsettled: readonly Operation[],
  failed: readonly Operation[],
): readonly Problem[] {
  const changes = Map.groupBy(failed, ({ kind, resource, fleetHost }) => `${kind} ${resource} ${fleetHost}`);
  return [
    ...unsettled.filter(({ state }) => state === OperationState.NEEDS_ATTENTION).map(attentionProblem),
    ...[...changes.values()].flatMap(failedProblem),
  ];
}

function attentionProblem(operation: Operation): Problem {
  const { attention, error } = operation;
  const [left, advice] = [attention?.left[0], attention?.advice[0]];
  return {
    ...problemOf(operation, [operation]),
    severity: "failed",
    rank: ranks.attention,
    title: `${operationTitle(operation)} needs attention`,
    cause: [left ?? error?.message, advice]
      .flatMap((sentence) => (sentence === undefined ? [] : [sentence.replace(/\.$/, "")]))
      .join(". "),
  };
}

function failedProblem(operations: readonly Operation[]): readonly Problem[] {
  const [newest] = operations;
  if (newest === undefined) {
    return [];
  }
  const times = operations.length === 1 ? "" : ` ${operations.length} times`;
  return [
    {
      ...problemOf(newest, operations),
      severity: "failed",
      rank: ranks.operation,
      title: `${operationTitle(newest)} failed${times}`,
      cause: newest.error?.message ?? newest.message,
    },
  ];
}

function problemOf(operation: Operation, operations: readonly Operation[]) {
  const { id, fleetHost, host, endedAt, startedAt } = operation;
  const at = endedAt ?? startedAt;
  return {
    key: id,
    place: fleetHost || host,
    sinceMs: at === undefined ? undefined : timestampMs(at),
    path: `/operations/${id}`,
    operations,
  };
}
