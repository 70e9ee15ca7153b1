import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";

/** A response for `route.fulfill`. */
interface Answer {
  readonly contentType: string;
  readonly body: Buffer;
}

/** Returns the response of a unary call to the dashboard. */
export function answerOf<Desc extends DescMessage>(schema: Desc, message: MessageInitShape<Desc>): Answer {
  return { contentType: "application/proto", body: Buffer.from(toBinary(schema, create(schema, message))) };
}
