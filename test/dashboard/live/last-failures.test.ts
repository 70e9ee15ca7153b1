import { create } from "@bufbuild/protobuf";
import { test } from "tap";
import { lastFailures } from "../../../dashboard/live/last-failures.ts";
import { OperationSchema, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";

const { ACTIVE, CANCELLED, COMPLETED, FAILED, NEEDS_ATTENTION } = OperationState;
const operation = (resource: string, state: OperationState) =>
  create(OperationSchema, { id: `${resource}-${state}`, resource, state });

test("only a resource's last operation counts as its failure", async (t) => {
  const newestFirst = [
    operation("a", FAILED),
    operation("b", COMPLETED),
    operation("c", CANCELLED),
    operation("d", ACTIVE),
    operation("e", NEEDS_ATTENTION),
    ...["a", "b", "c", "d"].map((resource) => operation(resource, FAILED)),
    operation("a", COMPLETED),
  ];
  const failures = [...lastFailures(newestFirst)].map(([resource, { state }]) => ({ resource, state }));
  t.same(failures, [
    { resource: "a", state: FAILED },
    { resource: "e", state: NEEDS_ATTENTION },
    { resource: "c", state: FAILED },
  ]);
});
