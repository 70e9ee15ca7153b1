import { InfraError } from "../../adapters/host/infra-error.ts";
import type { NodeRequest } from "./node-adapter.ts";

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Keeps foreign web pages out of a TCP listener that asks for no login: a page whose name was made to resolve
 * to this machine (DNS rebinding) is known by its Host, any other by its Origin.
 * @param host the host the listener was configured with
 * @param origins those configured for CORS
 * @returns HOST_NOT_ALLOWED or ORIGIN_NOT_ALLOWED for such a page's request
 */
export function foreignCallerOf(
  request: NodeRequest,
  host: string,
  origins: readonly string[],
): InfraError | undefined {
  const authority = String(request.headers[":authority"] ?? request.headers.host ?? "");
  const name = authority.replace(/:\d*$/, "").toLowerCase();
  if (authority !== "" && !loopbackHosts.has(name) && name !== host.toLowerCase()) {
    return new InfraError("HOST_NOT_ALLOWED", `the host ${name} is not a name of this listener`);
  }
  const { origin } = request.headers;
  if (origin === undefined || origins.includes(origin)) {
    return undefined;
  }
  if (origin.replace(/^https?:\/\//, "") !== authority) {
    return new InfraError("ORIGIN_NOT_ALLOWED", `the origin ${origin} is not in cors.origins`);
  }
  return undefined;
}
