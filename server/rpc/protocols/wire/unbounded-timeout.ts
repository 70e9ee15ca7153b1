/** Longest delay of a Node timer; a longer one fires after 1 ms. */
export const maxTimerMs = 2 ** 31 - 1;

const grpcUnitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000 };

/**
 * Removes the deadline from a request if it is further away than a timer can wait (24.8 days): a client that sends `99999999H`
 * means no deadline, and connect-es would end its call at once. The gateway's own limit still applies.
 */
export function dropUnboundedTimeout(header: Headers): void {
  const connectMs = /^\d{1,10}$/.exec(header.get("connect-timeout-ms") ?? "")?.[0];
  if (Number(connectMs) > maxTimerMs) {
    header.delete("connect-timeout-ms");
  }
  const [, count, unit = ""] = /^(\d{1,8})([HMS])$/.exec(header.get("grpc-timeout") ?? "") ?? [];
  if (Number(count) * (grpcUnitMs[unit] ?? 0) > maxTimerMs) {
    header.delete("grpc-timeout");
  }
}
