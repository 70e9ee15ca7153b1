import { createOpenRequests, type OpenRequests } from "./open-requests.ts";
import { createUnknownConnections, type UnknownConnections } from "./unknown-connections.ts";

/**
 * Limits of unauthenticated callers, shared by all listeners, and the time limit for reading answers, which applies to all
 * callers.
 */
export interface UnknownCallers {
  readonly connections: UnknownConnections;
  readonly requests: OpenRequests;
  close(): void;
}

/** `limits.unknown` of the configuration. */
export interface UnknownCallerLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
  readonly cpuMsPerSecond: number;
  readonly memoryBytes: number;
  readonly memoryBytesPerAddress: number;
}

/** Time limits for a body, and for a client to read more of an answer. */
const bodyMs = 10_000;
const unknownUnreadMs = 10_000;

/** Share of an address's memory that one connection may waste. */
const wastePart = 1 / 16;

/**
 * @param writeTimeoutMs how long an answer may wait for any client to read more
 * @param onCut called for each request that is cut
 */
export function createUnknownCallers(
  limits: UnknownCallerLimits,
  writeTimeoutMs: number,
  onCut: (address: string | undefined, why: string) => void,
): UnknownCallers {
  const { connections, connectionsPerAddress, cpuMsPerSecond, memoryBytes, memoryBytesPerAddress } = limits;
  const open = createUnknownConnections({
    connections,
    connectionsPerAddress,
    cpuMsPerSecond,
    wasteBytes: memoryBytesPerAddress * wastePart,
  });
  const requests = createOpenRequests(
    {
      bytes: memoryBytes,
      bytesPerAddress: memoryBytesPerAddress,
      bodyMs,
      unreadMs: writeTimeoutMs,
      unknownUnreadMs: Math.min(writeTimeoutMs, unknownUnreadMs),
    },
    onCut,
  );
  return {
    connections: open,
    requests,
    close() {
      open.close();
      requests.close();
    },
  };
}
