import { envelopeHeadBytes } from "../../rpc/protocols/wire/envelope.ts";
import { badAnswer } from "../forward/answer-headers.ts";

export interface Envelope {
  readonly flags: number;
  readonly data: Uint8Array;
}

/** Cuts the bytes of a host's stream into envelopes. */
export interface EnvelopeReader {
  /** Returns the envelopes that a chunk completes. @throws InfraError BAD_HOST_ANSWER for one that is too large */
  push(chunk: Buffer): readonly Envelope[];
}

/** @param maxMessageBytes largest message of an envelope, which limits the memory that is kept */
export function createEnvelopeReader(host: string, maxMessageBytes: number): EnvelopeReader {
  let chunks: Buffer[] = [];
  let keptBytes = 0;
  let neededBytes = envelopeHeadBytes;
  return {
    push(chunk) {
      chunks.push(chunk);
      keptBytes += chunk.byteLength;
      if (keptBytes < neededBytes) {
        return [];
      }
      const envelopes: Envelope[] = [];
      let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks);
      neededBytes = envelopeHeadBytes;
      while (rest.byteLength >= envelopeHeadBytes) {
        const sizeBytes = rest.readUInt32BE(1);
        if (sizeBytes > maxMessageBytes) {
          throw badAnswer(host, `a message has ${sizeBytes} bytes; the limit is ${maxMessageBytes}`);
        }
        const endsAt = envelopeHeadBytes + sizeBytes;
        if (rest.byteLength < endsAt) {
          neededBytes = endsAt;
          break;
        }
        envelopes.push({ flags: rest.readUInt8(0), data: rest.subarray(envelopeHeadBytes, endsAt) });
        rest = rest.subarray(endsAt);
      }
      chunks = rest.byteLength === 0 ? [] : [rest];
      keptBytes = rest.byteLength;
      return envelopes;
    },
  };
}
