import { InfraError } from "../../adapters/host/infra-error.ts";

/** Says that a message cannot be written since it is larger than the gateway's limit. */
export function messageTooLarge(sizeBytes: number, maxMessageBytes: number): InfraError {
  const message = `message size ${sizeBytes} is larger than the limit of ${maxMessageBytes} bytes (limits.maxMessageBytes)`;
  return new InfraError("MESSAGE_TOO_LARGE", message);
}
