import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { test } from "tap";
import { foldEvents } from "../../../../dashboard/parts/event/fold-events.ts";
import { EventSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import { OperationState } from "../../../../gen/hostplane/v1/operation_pb.ts";

function event(cursor: string, fields: MessageInitShape<typeof EventSchema>) {
  return create(EventSchema, { cursor, ...fields });
}

function exit(cursor: string, resource: string) {
  return event(cursor, { type: "pod.exited", resource, detail: { case: "pod", value: {} } });
}

function progress(cursor: string, id: string) {
  const value = { id, state: OperationState.ACTIVE };
  return event(cursor, {
    type: "operation.changed",
    resource: "pods/1",
    detail: { case: "operation", value },
  });
}

test("repeated events are one line with their number, at the place of the newest", async (t) => {
  const lines = foldEvents([
    exit("5", "pods/1"),
    exit("4", "pods/2"),
    exit("3", "pods/1"),
    exit("2", "pods/1"),
  ]);
  t.same(
    lines.map(({ event: { cursor }, count, first }) => [cursor, count, first.cursor]),
    [
      ["5", 3, "2"],
      ["4", 1, "4"],
    ],
  );
});

test("the events of an operation are one line, and those of another operation another", async (t) => {
  const lines = foldEvents([progress("6", "a"), progress("5", "b"), progress("3", "a"), progress("2", "b")]);
  t.same(
    lines.map(({ event: { cursor } }) => cursor),
    ["6", "5"],
  );
});
