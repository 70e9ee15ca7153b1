import { type DescMessage, type MessageShape, toJsonString } from "@bufbuild/protobuf";
import type { EncodedMessage } from "../../streams/encoded-message.ts";
import { cursorOf } from "./cursor-field.ts";
import { eventFrame } from "./event-frame.ts";

/** Encodes a message as an event: one line with its JSON as Connect writes it, and its cursor, if it has one, as the id. */
export function messageEvent<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
): EncodedMessage {
  const data = toJsonString(desc, message);
  return { frame: eventFrame({ id: cursorOf(desc, message), data }), sizeBytes: Buffer.byteLength(data) };
}
