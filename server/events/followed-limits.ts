/** Largest event that a host sends to its hub, in bytes; host and hub omit the facts of a larger one. */
export const followedEventBytes = 256 * 1024;

/** A host sends a batch of events as soon as it has this many bytes. */
export const followedBatchBytes = 256 * 1024;

/** Largest message that a hub accepts from a host, in bytes. */
export const followedMessageBytes = 1024 * 1024;
