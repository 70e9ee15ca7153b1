import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { compressedFlag, type Serialization } from "@connectrpc/connect/protocol";
import { compressMinBytes } from "../compression.ts";
import type { EncodedMessage } from "../encoded-message.ts";
import { envelopeHeadBytes, envelopeOf } from "../envelope.ts";
import { messageTooLarge } from "../message-too-large.ts";
import { sharedMessageOf } from "../shared-answers.ts";
import type { RequestHead } from "./request-head.ts";

/** How the messages of a method's answer are written. */
export interface AnswerWriting {
  readonly method: DescMethod;
  readonly writeMaxBytes: number;
  readonly binary: Serialization<Message>;
  readonly json: Serialization<Message>;
  /** Whether a message that many calls get is encoded for all of them. */
  readonly isShared: boolean;
}

/** A message of an answer, ready to be written. */
export interface EncodedAnswer {
  /** In its envelope where the protocol has them. */
  readonly bytes: Uint8Array;
  /** By the compression that was agreed on. */
  readonly isCompressed: boolean;
  /** The form of it that other calls are answered with as well. */
  readonly shared: EncodedMessage | undefined;
}

/** @throws InfraError MESSAGE_TOO_LARGE, ConnectError for a message that cannot be encoded */
export function encodeAnswer(
  output: object,
  head: RequestHead,
  writing: AnswerWriting,
): EncodedAnswer | Promise<EncodedAnswer> {
  const { form, answerCompression } = head;
  const shared = writing.isShared ? sharedMessageOf(output) : undefined;
  if (shared !== undefined) {
    const plain = shared.encoded(form.isBinary ? "binary" : "json");
    if (plain.sizeBytes > writing.writeMaxBytes) {
      throw messageTooLarge(plain.sizeBytes, writing.writeMaxBytes);
    }
    const asked = plain.sizeBytes < compressMinBytes ? null : answerCompression;
    if (asked === null) {
      return sharedAnswer(plain, form.isEnveloped, false);
    }
    return shared
      .compressed(form.isBinary ? "binary" : "json", asked)
      .then((compressed) => sharedAnswer(compressed, form.isEnveloped, true));
  }
  const message = create(writing.method.output, output as Record<string, unknown>);
  const data = (form.isBinary ? writing.binary : writing.json).serialize(message);
  if (answerCompression !== null && data.byteLength >= compressMinBytes) {
    return answerCompression.compress(data).then((compressed) => ({
      bytes: form.isEnveloped ? envelopeOf(compressed, compressedFlag) : compressed,
      isCompressed: true,
      shared: undefined,
    }));
  }
  return {
    bytes: form.isEnveloped ? envelopeOf(data) : data,
    isCompressed: false,
    shared: undefined,
  };
}

function sharedAnswer(shared: EncodedMessage, isEnveloped: boolean, isCompressed: boolean): EncodedAnswer {
  const { frame } = shared;
  return { bytes: isEnveloped ? frame : frame.subarray(envelopeHeadBytes), isCompressed, shared };
}
