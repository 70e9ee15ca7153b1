import { test } from "tap";
import { file_hostplane_v1_event, SubscribeRequestSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import { DataSource_S3Schema, LVService, StateTypeSchema } from "../../../../gen/proto/lvmd_pb.ts";
import { commentsFrom, readContractComments } from "../../../../server/rpc/openapi/contract-comments.ts";
import { readContractServices } from "../../harness/contract-services.ts";

test("every element of the contract has the comment above it", async (t) => {
  const commentOf = await readContractComments("backups");
  t.equal(commentOf(LVService), "Changes the logical volumes of a volume group.");
  t.equal(
    commentOf(LVService.method.createLV),
    "Creates a logical volume, empty or filled from a backup, and returns it.",
  );
  t.match(
    commentOf(DataSource_S3Schema),
    /^An S3 bucket, how to reach it .* no response\.$/,
    "a nested message",
  );
  t.equal(commentOf(DataSource_S3Schema.field.endpoint), "URL of the S3 service.");
  t.equal(commentOf(StateTypeSchema), 'The stages of a backup. There is no value for "not set".');
  const [first] = StateTypeSchema.values;
  t.equal(first && commentOf(first), "The backup has begun and has not ended.");
  const [start] = SubscribeRequestSchema.oneofs;
  t.equal(start && commentOf(start), "Where the stream begins. Unset: now.");
});

test("every RPC of hostplane and of the published APIs has a comment, and so has every field of its messages", async (t) => {
  const commentOf = await readContractComments("backups");
  for (const { methods } of await readContractServices()) {
    for (const method of methods.filter(({ parent }) => !/^(csi|grpc)\./.test(parent.typeName))) {
      for (const desc of [method, method.input, ...method.input.fields, ...method.output.fields]) {
        t.not(commentOf(desc), "", desc.toString());
      }
    }
  }
});

test("descriptors without source info have no comments", async (t) => {
  const { proto } = file_hostplane_v1_event;
  const commentOf = commentsFrom({ file: [proto] } as Parameters<typeof commentsFrom>[0]);
  t.equal(commentOf(SubscribeRequestSchema), "");
});
