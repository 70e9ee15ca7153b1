import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { laterOf, upToDate } from "../../../dashboard/live/operation-order.ts";
import { type Operation, OperationSchema, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";

function operation(fields: MessageInitShape<typeof OperationSchema>): Operation {
  return create(OperationSchema, fields);
}

test("an event is newer than a read, unless the read has an end or a later attempt", async (t) => {
  const running = operation({ id: "a", attempt: 1, state: OperationState.ACTIVE });
  const further = operation({ id: "a", attempt: 1, state: OperationState.ACTIVE, progress: 0.5 });
  const ended = operation({
    id: "a",
    attempt: 1,
    state: OperationState.FAILED,
    endedAt: timestampFromMs(1000),
  });
  const retried = operation({ id: "a", attempt: 2, state: OperationState.ACTIVE });
  t.equal(laterOf(further, running), further);
  t.equal(laterOf(running, ended), ended);
  t.equal(laterOf(ended, running), ended);
  t.equal(laterOf(ended, retried), retried);
  t.equal(laterOf(retried, ended), retried);
});

test("a list is updated from events", async (t) => {
  const at = (seconds: number) => timestampFromMs(seconds * 1000);
  const isOpen = ({ state }: Operation) => state !== OperationState.COMPLETED;
  const listed = [
    operation({ id: "new", state: OperationState.ACTIVE, createdAt: at(2) }),
    operation({ id: "old", state: OperationState.ACTIVE, createdAt: at(1) }),
  ];
  const reported = [
    operation({ id: "old", state: OperationState.COMPLETED, createdAt: at(1), endedAt: at(3) }),
    operation({ id: "newest", state: OperationState.SCHEDULED, createdAt: at(4) }),
  ];
  t.same(
    upToDate(listed, reported, isOpen).map(({ id }) => id),
    ["newest", "new"],
  );
});
