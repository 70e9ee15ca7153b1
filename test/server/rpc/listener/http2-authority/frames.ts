/** The client's first bytes on an HTTP/2 connection, with an empty SETTINGS frame. */
export const clientPreface: Buffer = Buffer.from(
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
  "latin1",
);

/** Builds an HTTP/2 frame (RFC 9113 section 4.1). */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}

/** Cuts the bytes into chunks that end at these positions; positions beyond the end are taken modulo the length. */
export function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1))), bytes.length].sort(
    (a, b) => a - b,
  );
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}
