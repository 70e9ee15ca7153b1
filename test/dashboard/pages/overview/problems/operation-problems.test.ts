import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { test } from "tap";
import { operationProblems } from "../../../../../dashboard/pages/overview/problems/operation-problems.ts";
import { mostUrgentFirst } from "../../../../../dashboard/pages/overview/problems/problem.ts";
import { OperationSchema, OperationState } from "../../../../../gen/hostplane/v1/operation_pb.ts";

function operation(fields: MessageInitShape<typeof OperationSchema>) {
  const resource = "volumeGroups/vg0/volumes/data";
  return create(OperationSchema, { kind: "volumes.backup", resource, ...fields });
}

const failed = (id: string) =>
  operation({ id, state: OperationState.FAILED, error: { message: `error of ${id}` } });

test("the same change that failed again is one problem with the newest cause", async (t) => {
  const problems = operationProblems([], [failed("2"), failed("1")]);
  t.match(problems, [{ title: "Back up volume data failed 2 times", cause: "error of 2" }]);
  t.same(
    problems[0]?.operations?.map(({ id }) => id),
    ["2", "1"],
  );
});

test("an operation that needs attention comes first, with what is left and what to do", async (t) => {
  const attention = operation({
    id: "3",
    state: OperationState.NEEDS_ATTENTION,
    attention: { left: ["The snapshot exists."], advice: ["Remove it."] },
  });
  const running = operation({ id: "4", state: OperationState.ACTIVE });
  const [first, second, ...others] = mostUrgentFirst(operationProblems([running, attention], [failed("1")]));
  t.match(first, {
    title: "Back up volume data needs attention",
    cause: "The snapshot exists. Remove it",
    path: "/operations/3",
  });
  t.match(second, { title: "Back up volume data failed" });
  t.equal(others.length, 0);
});
