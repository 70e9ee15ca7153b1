/** Maximum time until a client sends its first bytes. */
export const firstByteTimeoutMs = 10_000;

/** From the first byte of a request to the end of its headers. */
export const headersTimeoutMs = 10_000;

/** From the first byte of a request to the end of its body; not for streams of requests. */
export const requestTimeoutMs = 120_000;
