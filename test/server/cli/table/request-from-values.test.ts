import { create } from "@bufbuild/protobuf";
import { test } from "tap";
import { ListOperationsRequestSchema, OperationState } from "../../../../gen/hostplane/v1/operation_pb.ts";
import { CreateApiTokenRequestSchema } from "../../../../gen/hostplane/v1/user_pb.ts";
import { ResizeLVRequestSchema } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import { GetLogsRequestSchema } from "../../../../gen/v1alpha/api_pb.ts";
import { requestFromValues } from "../../../../server/cli/table/request-from-values.ts";

test("values fill the fields of their names, and are converted to their types", async (t) => {
  const from = new Date(1_500);
  const values = { state: [OperationState.FAILED], kind: undefined, from };
  t.match(create(ListOperationsRequestSchema, requestFromValues(ListOperationsRequestSchema, values)), {
    states: [OperationState.FAILED],
    kind: "",
    from: { seconds: 1n, nanos: 500_000_000 },
  });
  t.match(requestFromValues(CreateApiTokenRequestSchema, { name: "a", lifetime: 90_500 }), {
    lifetime: { seconds: 90n, nanos: 500_000_000 },
  });
  t.match(requestFromValues(ResizeLVRequestSchema, { name: "a", size: 5n }), { name: "a", sizeBytes: 5n });
  t.match(requestFromValues(GetLogsRequestSchema, { sinceTime: from }), { sinceTime: 1n });
});

test("a value without a field is a mistake of the table", async (t) => {
  t.throws(() => requestFromValues(ResizeLVRequestSchema, { volume: "a" }), {
    message: "proto.ResizeLVRequest has no field volume",
  });
});
