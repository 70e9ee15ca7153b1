import { constants } from "node:http2";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { fleetReasons } from "./reasons.ts";

const listedMax = 50;

/** Returns the names of hosts for people, the first fifty of them; `none` if there are none. */
export function listHosts(hosts: readonly { readonly name: string }[]): string {
  const names = hosts.map(({ name }) => name);
  const more = names.length - listedMax;
  return names.length === 0
    ? "none"
    : [...names.slice(0, listedMax), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

/** Returns HOST_UNKNOWN. @param hosts those that the fleet has */
export function hostUnknown(name: string, hosts: readonly { readonly name: string }[]): InfraError {
  const message = `the fleet has no host ${JSON.stringify(name)}; its hosts are ${listHosts(hosts)}`;
  return new InfraError(fleetReasons.HOST_UNKNOWN, message, { resource: `hosts/${name}` });
}

/** With these codes Node resets a stream that it does not pass on. */
const refusals: readonly (number | undefined)[] = [
  constants.NGHTTP2_REFUSED_STREAM,
  constants.NGHTTP2_ENHANCE_YOUR_CALM,
];

/**
 * Returns HOST_UNREACHABLE for a stream that was closed before its answer was complete.
 * @param rstCode as the stream has it
 * @param hasHead whether the answer had begun
 */
export function answerBroken(host: string, rstCode: number | undefined, hasHead: boolean): InfraError {
  return !hasHead && refusals.includes(rstCode)
    ? hostUnreachable(host, "it takes no further calls until callers have read earlier answers").withEffect(
        "none",
      )
    : hostUnreachable(host, "its connection broke before the answer was complete");
}

/** Returns HOST_UNREACHABLE. @param why what follows "host NAME cannot be reached: " */
export function hostUnreachable(host: string, why: string): InfraError {
  return new InfraError(fleetReasons.HOST_UNREACHABLE, `host ${host} cannot be reached: ${why}`, {
    resource: `hosts/${host}`,
  });
}
