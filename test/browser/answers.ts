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

/** Returns the first message of a stream to the dashboard: a flag, the length and the message. The stream then breaks off. */
export function streamedAnswerOf<Desc extends DescMessage>(
  schema: Desc,
  message: MessageInitShape<Desc>,
): Answer {
  const body = toBinary(schema, create(schema, message));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  return { contentType: "application/connect+proto", body: Buffer.concat([head, body]) };
}
