import { InfraError } from "../../adapters/host/infra-error.ts";
import { envelopeHeadBytes } from "./envelope.ts";

/**
 * How long a body is that has to be one envelope, as its head says.
 * @param body at least the head
 * @returns 0 for a message larger than `maxBytes`, of which no more needs to be read
 */
export function envelopeEndOf(body: Buffer, maxBytes: number): number {
  const messageBytes = body.readUInt32BE(1);
  return messageBytes > maxBytes ? 0 : envelopeHeadBytes + messageBytes;
}

/** @throws InfraError REQUEST_CARDINALITY when something follows the first envelope */
export function assertOneEnvelope(body: Buffer): void {
  if (body.byteLength >= envelopeHeadBytes && body.byteLength > envelopeHeadBytes + body.readUInt32BE(1)) {
    throw new InfraError("REQUEST_CARDINALITY", "the request has more than one message");
  }
}
