import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { rpcReasons } from "../../reasons.ts";
import { envelopeHeadBytes } from "./envelope.ts";

/**
 * Returns the length of a body that must be one envelope, from the envelope's head.
 * @param body at least the head
 * @returns 0 for a message larger than `maxBytes`; no more of it needs to be read
 */
export function envelopeEndOf(body: Buffer, maxBytes: number): number {
  const messageBytes = body.readUInt32BE(1);
  return messageBytes > maxBytes ? 0 : envelopeHeadBytes + messageBytes;
}

/** @throws InfraError REQUEST_CARDINALITY when anything follows the first envelope */
export function assertOneEnvelope(body: Buffer): void {
  if (body.byteLength >= envelopeHeadBytes && body.byteLength > envelopeHeadBytes + body.readUInt32BE(1)) {
    throw new InfraError(rpcReasons.REQUEST_CARDINALITY, "the request has more than one message");
  }
}
