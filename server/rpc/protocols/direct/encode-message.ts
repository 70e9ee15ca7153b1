import { create, type Message, toJsonString } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type Compression,
  compressedFlag,
  createMethodSerializationLookup,
} from "@connectrpc/connect/protocol";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { inSlices } from "../../call/in-slices.ts";
import type { Charged } from "../../call/loop-time.ts";
import type { Route } from "../../call/router.ts";
import { messageTooLarge } from "../../errors/message-too-large.ts";
import { sharedMessageOf } from "../../streams/shared-answers.ts";
import { compressMinBytes } from "../wire/compression.ts";
import { envelopeHeadBytes, envelopeOf } from "../wire/envelope.ts";
import { binaryInSteps, createLongListCheck, jsonInSteps } from "./encode-in-slices.ts";
import type { RequestHead, WireForm } from "./request.ts";

/** An encoded message of an answer, ready to be written. */
export interface EncodedMessage {
  /**
   * In its envelope if the protocol has them. A call's own unenveloped JSON is a string, which Node writes together with the
   * head; bytes after a head would cost a `writev`, 5 of the 61 µs of a call with 1 KB (the bench `json-echo`; docs/reference/benchmarks.md, A JSON call).
   */
  readonly body: Uint8Array | string;
  /** Whether it is compressed with the negotiated compression. */
  readonly isCompressed: boolean;
}

/**
 * Encodes a message of an answer.
 * @param charged charged for the CPU time of a long list, which is encoded in slices
 * @throws InfraError MESSAGE_TOO_LARGE, ConnectError for a message that cannot be encoded
 */
export type EncodeMessage = (
  output: object,
  head: RequestHead,
  charged: Charged,
) => EncodedMessage | Promise<EncodedMessage>;

/** @param route of one method: its encoders are created once, not for each call */
export function createEncodeMessage({
  method,
  rule,
  readMaxBytes,
  writeMaxBytes,
  jsonOptions,
}: Pick<Route, "method" | "rule" | "readMaxBytes" | "writeMaxBytes" | "jsonOptions">): EncodeMessage {
  const limits = { readMaxBytes, writeMaxBytes };
  const { getO } = createMethodSerializationLookup(method, undefined, jsonOptions, limits);
  const binary = getO(true);
  const hasLongList = createLongListCheck(method.output);
  /** Whether a message that many calls receive is encoded only once. */
  const isShared = method.methodKind === "unary" ? rule.cache : !rule.secrets;

  function encodeJson(message: Message): string {
    try {
      return toJsonString(method.output, message, jsonOptions);
    } catch (error) {
      throw ConnectError.from(error, Code.Internal);
    }
  }

  async function encodeLong(output: object, head: RequestHead, charged: Charged): Promise<EncodedMessage> {
    let data: Uint8Array | string;
    try {
      data = head.form.isBinary
        ? await inSlices(binaryInSteps(method.output, output), charged)
        : await inSlices(jsonInSteps(method.output, output, jsonOptions), charged);
    } catch (error) {
      throw error instanceof InfraError ? error : ConnectError.from(error, Code.Internal);
    }
    return finish(data, head);
  }

  /** Checks the size, compresses and envelops. */
  function finish(
    data: Uint8Array | string,
    { form, answerCompression }: RequestHead,
  ): EncodedMessage | Promise<EncodedMessage> {
    const sizeBytes = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    if (sizeBytes > writeMaxBytes) {
      throw messageTooLarge(sizeBytes, writeMaxBytes);
    }
    if (answerCompression !== null && sizeBytes >= compressMinBytes) {
      return compressed(bytesOf(data), answerCompression, form);
    }
    return { body: form.isEnveloped ? envelopeOf(bytesOf(data)) : data, isCompressed: false };
  }

  return (output, head, charged) => {
    const { form, answerCompression } = head;
    const shared = isShared ? sharedMessageOf(output) : undefined;
    if (shared !== undefined) {
      const codec = form.isBinary ? "binary" : "json";
      const plain = shared.encoded(codec);
      if (plain.sizeBytes > writeMaxBytes) {
        throw messageTooLarge(plain.sizeBytes, writeMaxBytes);
      }
      return answerCompression === null || plain.sizeBytes < compressMinBytes
        ? { body: bodyOf(plain.frame, form), isCompressed: false }
        : shared
            .compressed(codec, answerCompression)
            .then(({ frame }) => ({ body: bodyOf(frame, form), isCompressed: true }));
    }
    if (hasLongList?.(output) === true) {
      return encodeLong(output, head, charged);
    }
    const message = create(method.output, output as Record<string, unknown>);
    return finish(form.isBinary ? binary.serialize(message) : encodeJson(message), head);
  };
}

async function compressed(
  data: Uint8Array<ArrayBuffer>,
  compression: Compression,
  form: WireForm,
): Promise<EncodedMessage> {
  const bytes = await compression.compress(data);
  return { body: form.isEnveloped ? envelopeOf(bytes, compressedFlag) : bytes, isCompressed: true };
}

function bodyOf(frame: Buffer, { isEnveloped }: WireForm): Buffer {
  return isEnveloped ? frame : frame.subarray(envelopeHeadBytes);
}

function bytesOf(data: Uint8Array | string): Uint8Array<ArrayBuffer> {
  return (typeof data === "string" ? Buffer.from(data) : data) as Uint8Array<ArrayBuffer>;
}
