/** Size of an envelope's head: one byte of flags, and four for the size of the message. */
export const envelopeHeadBytes = 5;

/**
 * Puts a message in the envelope that gRPC, gRPC-Web and Connect's streams share. Unlike `encodeEnvelope` of connect-es, which
 * allocates zero-filled memory each time, this takes small ones from Node's pool.
 */
export function envelopeOf(data: Uint8Array, flags = 0): Buffer {
  const envelope = Buffer.allocUnsafe(envelopeHeadBytes + data.byteLength);
  envelope.writeUInt8(flags, 0);
  envelope.writeUInt32BE(data.byteLength, 1);
  envelope.set(data, envelopeHeadBytes);
  return envelope;
}
