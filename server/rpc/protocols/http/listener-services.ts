import type { DescService } from "@bufbuild/protobuf";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { rpcReasons } from "../../reasons.ts";

/**
 * Returns SERVICE_NOT_ON_LISTENER for a service that a listener does not serve.
 * @param services full names of those it serves; undefined means all
 */
export function listenerRefusalOf(
  { typeName }: DescService,
  listener: string,
  services: ReadonlySet<string> | undefined,
): InfraError | undefined {
  return services?.has(typeName) === false
    ? new InfraError(rpcReasons.SERVICE_NOT_ON_LISTENER, `${typeName} is not served on ${listener}`)
    : undefined;
}
