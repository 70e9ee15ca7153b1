/** One enveloped message of a stream: a byte of flags, four bytes with the length, the data. */
export interface Envelope {
  readonly flags: number;
  readonly data: Buffer;
}

/** Parses the whole envelopes at the beginning of `bytes`. */
export function envelopesFrom(bytes: Buffer): Envelope[] {
  const envelopes: Envelope[] = [];
  let at = 0;
  while (at + 5 <= bytes.byteLength) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    if (end > bytes.byteLength) {
      break;
    }
    envelopes.push({ flags: bytes.readUInt8(at), data: bytes.subarray(at + 5, end) });
    at = end;
  }
  return envelopes;
}
