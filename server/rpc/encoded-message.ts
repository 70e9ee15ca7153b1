/** A message as it is written to a stream. */
export interface EncodedMessage {
  /** With what frames it there: an envelope, or the lines of an event. */
  readonly frame: Buffer;
  /** Of the message alone. */
  readonly sizeBytes: number;
}
