import { test } from "tap";
import { EventSchema, SubscribeRequestSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import { PlanRequestSchema } from "../../../../gen/hostplane/v1/plan_pb.ts";
import { PodSchema } from "../../../../gen/hostplane/v1/pod_pb.ts";
import { BackupStateSchema, CreateLVRequestSchema, EmptySchema } from "../../../../gen/proto/lvmd_pb.ts";
import {
  createMessageSchemas,
  type Form,
  type MessageForm,
} from "../../../../server/rpc/openapi/message-schemas.ts";

const answer: Form = { role: "answer", names: "json" };
const change: Form = { role: "change", names: "json" };
const read: Form = { role: "read", names: "json" };

const schemasOf = (...roots: MessageForm[]) =>
  createMessageSchemas(roots, (desc) => ("number" in desc ? `about ${desc.name}` : ""));

test("the request of a change has its own name, takes 64 bits as string or number, and refuses unknown fields", async (t) => {
  const { components } = schemasOf({ message: CreateLVRequestSchema, form: change });
  t.match(components["proto.CreateLVRequest"], {
    type: "object",
    additionalProperties: false,
    properties: {
      sizeGb: {
        anyOf: [
          { type: "string", format: "uint64" },
          { type: "integer", minimum: 0 },
        ],
      },
      tags: { type: "array", items: { type: "string" }, description: "about tags" },
      dataSource: { $ref: "#/components/schemas/proto.DataSource" },
    },
  });
  t.match(components["proto.DataSource.S3"], {
    properties: { encryptionKey: { "x-hostplane-secret": true } },
  });
});

test("an answer has 64 bits as strings, enums by name, and allows further fields", async (t) => {
  const { components } = schemasOf(
    { message: PodSchema, form: answer },
    { message: BackupStateSchema, form: answer },
  );
  t.match(components["hostplane.v1.Pod"], {
    additionalProperties: undefined,
    properties: {
      createdAt: { type: "string", format: "date-time" },
      labels: { type: "object", additionalProperties: { type: "string" } },
    },
  });
  t.match(components["proto.BackupState"], {
    properties: { state: { $ref: "#/components/schemas/proto.StateType" } },
  });
  t.match(components["proto.StateType"], { type: "string", enum: ["INPROGRESS", "COMPLETE", "ERROR"] });
});

test("at most one field of a oneof may be present; optional fields are not a oneof", async (t) => {
  const { components } = schemasOf(
    { message: PlanRequestSchema, form: read },
    { message: EventSchema, form: answer },
  );
  t.same((components["hostplane.v1.PlanRequest"] as { not: object }).not, {
    anyOf: [{ required: ["json", "binary"] }],
  });
  t.notOk("not" in (components["hostplane.v1.VolumeEvent"] as object));
});

test("a message in several forms has a name for each; for REST with the names of the contract", async (t) => {
  const rest: Form = { role: "change", names: "contract" };
  const schemas = schemasOf(
    { message: EmptySchema, form: answer },
    { message: EmptySchema, form: read },
    { message: CreateLVRequestSchema, form: rest },
  );
  t.ok("proto.Empty" in schemas.components);
  t.same(schemas.refTo(EmptySchema, read), { $ref: "#/components/schemas/proto.Empty_Read" });
  t.match(schemas.components["proto.CreateLVRequest"], { properties: { size_gb: {} } });
  t.throws(() => schemas.refTo(SubscribeRequestSchema, read), TypeError);
});
