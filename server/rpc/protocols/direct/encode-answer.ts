import {
  create,
  type DescMethod,
  type JsonWriteOptions,
  type Message,
  toJsonString,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Compression, compressedFlag, type Serialization } from "@connectrpc/connect/protocol";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { inSlices } from "../../call/in-slices.ts";
import type { Charged } from "../../call/loop-time.ts";
import { messageTooLarge } from "../../errors/message-too-large.ts";
import type { EncodedMessage } from "../../streams/encoded-message.ts";
import { sharedMessageOf } from "../../streams/shared-answers.ts";
import { compressMinBytes } from "../wire/compression.ts";
import { envelopeHeadBytes, envelopeOf } from "../wire/envelope.ts";
import { binaryInSteps, hasLongList, jsonInSteps } from "./encode-in-slices.ts";
import type { RequestHead } from "./request-head.ts";

/** How the messages of a method's answers are encoded. */
export interface AnswerWriting {
  readonly method: DescMethod;
  readonly writeMaxBytes: number;
  readonly binary: Serialization<Message>;
  readonly json: Serialization<Message>;
  /** Options of `json`, for encoding a message as text. */
  readonly jsonOptions: Partial<JsonWriteOptions>;
  /** Whether a message that many calls receive is encoded only once. */
  readonly isShared: boolean;
}

/** An encoded message of an answer, ready to be written. */
export interface EncodedAnswer {
  /**
   * In its envelope if the protocol has them. A call's own unenveloped JSON is a string, which Node writes together with the
   * head; bytes after a head would cost a `writev`, 5 of the 61 µs of a call with 1 KB. Shared bodies are bytes.
   */
  readonly body: Uint8Array | string;
  /** Size of the body. */
  readonly sizeBytes: number;
  /** Whether it is compressed with the negotiated compression. */
  readonly isCompressed: boolean;
  /** The encoded form that other calls use too. */
  readonly shared: EncodedMessage | undefined;
}

/**
 * Encodes a message of an answer.
 * @param charged charged for the CPU time of a long list, which is encoded in slices
 * @throws InfraError MESSAGE_TOO_LARGE, ConnectError for a message that cannot be encoded
 */
export function encodeAnswer(
  output: object,
  head: RequestHead,
  writing: AnswerWriting,
  charged: Charged,
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
  if (hasLongList(writing.method.output, output)) {
    return longAnswer(output, head, writing, charged);
  }
  const message = create(writing.method.output, output as Record<string, unknown>);
  if (!form.isBinary && !form.isEnveloped) {
    return textAnswer(textOf(writing.method, message, writing.jsonOptions), answerCompression, writing);
  }
  const data = (form.isBinary ? writing.binary : writing.json).serialize(message);
  return dataAnswer(data, head);
}

async function longAnswer(
  output: object,
  head: RequestHead,
  writing: AnswerWriting,
  charged: Charged,
): Promise<EncodedAnswer> {
  const { form, answerCompression } = head;
  const { method, writeMaxBytes, jsonOptions } = writing;
  try {
    if (form.isBinary) {
      const data = await inSlices(binaryInSteps(method.output, output), charged);
      assertSize(data.byteLength, writeMaxBytes);
      return await dataAnswer(data, head);
    }
    const text = await inSlices(jsonInSteps(method.output, output, jsonOptions), charged);
    if (!form.isEnveloped) {
      return await textAnswer(text, answerCompression, writing);
    }
    const data = Buffer.from(text);
    assertSize(data.byteLength, writeMaxBytes);
    return await dataAnswer(data, head);
  } catch (error) {
    throw error instanceof InfraError ? error : ConnectError.from(error, Code.Internal);
  }
}

function textAnswer(
  text: string,
  compression: Compression | null,
  { writeMaxBytes }: AnswerWriting,
): EncodedAnswer | Promise<EncodedAnswer> {
  const sizeBytes = Buffer.byteLength(text);
  assertSize(sizeBytes, writeMaxBytes);
  if (compression !== null && sizeBytes >= compressMinBytes) {
    return compression.compress(Buffer.from(text)).then((compressed) => ownAnswer(compressed, true));
  }
  return { body: text, sizeBytes, isCompressed: false, shared: undefined };
}

function dataAnswer(
  data: Uint8Array,
  { form, answerCompression }: RequestHead,
): EncodedAnswer | Promise<EncodedAnswer> {
  if (answerCompression !== null && data.byteLength >= compressMinBytes) {
    return answerCompression
      .compress(data)
      .then((compressed) =>
        ownAnswer(form.isEnveloped ? envelopeOf(compressed, compressedFlag) : compressed, true),
      );
  }
  return ownAnswer(form.isEnveloped ? envelopeOf(data) : data, false);
}

function assertSize(sizeBytes: number, maxBytes: number): void {
  if (sizeBytes > maxBytes) {
    throw messageTooLarge(sizeBytes, maxBytes);
  }
}

function textOf({ output }: DescMethod, message: Message, options: Partial<JsonWriteOptions>): string {
  try {
    return toJsonString(output, message, options);
  } catch (error) {
    throw ConnectError.from(error, Code.Internal);
  }
}

function ownAnswer(body: Uint8Array, isCompressed: boolean): EncodedAnswer {
  return { body, sizeBytes: body.byteLength, isCompressed, shared: undefined };
}

function sharedAnswer(shared: EncodedMessage, isEnveloped: boolean, isCompressed: boolean): EncodedAnswer {
  const { frame } = shared;
  const body = isEnveloped ? frame : frame.subarray(envelopeHeadBytes);
  return { body, sizeBytes: body.byteLength, isCompressed, shared };
}
