/** What an envelope has in front of its message: a byte of flags, four of the message's size. */
export const envelopeHeadBytes = 5;

/**
 * A message in the envelope that gRPC, gRPC-Web and Connect's streams have alike. Not `encodeEnvelope` of connect-es, which
 * takes new memory filled with zeros for each: small ones come out of Node's pool.
 */
export function envelopeOf(data: Uint8Array, flags = 0): Buffer {
  const envelope = Buffer.allocUnsafe(envelopeHeadBytes + data.byteLength);
  envelope.writeUInt8(flags, 0);
  envelope.writeUInt32BE(data.byteLength, 1);
  envelope.set(data, envelopeHeadBytes);
  return envelope;
}
