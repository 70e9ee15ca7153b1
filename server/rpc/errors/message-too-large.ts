import { InfraError } from "../../../adapters/host/infra-error.ts";
import { openRequestMaxBytes } from "../call/method-rule.ts";
import { rpcReasons } from "../reasons.ts";

/** Creates the error for a message that is larger than the gateway reads or writes. */
export function messageTooLarge(sizeBytes: number, maxBytes: number): InfraError {
  return new InfraError(
    rpcReasons.MESSAGE_TOO_LARGE,
    `message size ${sizeBytes} is larger than ${describeMessageLimit(maxBytes)}`,
  );
}

/** Describes a limit and where it is set. */
export function describeMessageLimit(maxBytes: number): string {
  const source =
    maxBytes === openRequestMaxBytes ? "of requests to methods that need no login" : "limits.maxMessageBytes";
  return `the limit of ${maxBytes} bytes (${source})`;
}
