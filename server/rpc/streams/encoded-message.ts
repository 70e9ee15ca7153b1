/** A message as it is written to a stream. */
export interface EncodedMessage {
  /** Includes the framing: an envelope, or the lines of an event. */
  readonly frame: Buffer;
  /** Size of the message without the framing. */
  readonly sizeBytes: number;
}
