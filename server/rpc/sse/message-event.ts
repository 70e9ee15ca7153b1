import { type DescMessage, type MessageShape, toJsonString } from "@bufbuild/protobuf";
import type { EncodedMessage } from "../encoded-message.ts";
import { cursorOf } from "./cursor-field.ts";
import { eventFrame } from "./event-frame.ts";

/** A message as an event: its JSON, as Connect writes it, in one line, and its cursor as the id where it has one. */
export function messageEvent<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
): EncodedMessage {
  const data = toJsonString(desc, message);
  return { frame: eventFrame({ id: cursorOf(desc, message), data }), sizeBytes: Buffer.byteLength(data) };
}
