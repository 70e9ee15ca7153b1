/** The protocol for which an agent's connection is upgraded. After that, the hub is the HTTP/2 client on it. */
export const linkProtocol = "hostplane-link/1";

/** The path of the request that asks for it. */
export const linkPath = "/fleet/link";

/**
 * The header in which an agent sends a random ID, the same one to all addresses of all hubs: a hub with several addresses
 * recognises it. The first version sends none.
 */
export const agentIdHeader = "hostplane-agent";

/** The status with which a hub answers an agent that is connected to it by another address. */
export const connectedAlreadyStatus = 409;

/** The path at which an agent takes the addresses of all hubs, as JSON. */
export const hubsPath = "/fleet/hubs";

/**
 * The header with which a hub asks for errors without details, for a listener with `errorDetails: false`. Agents of the first
 * version ignore it; they would refuse an unknown header whose name begins with `hostplane-`.
 */
export const errorDetailsHeader = "fleet-error-details";
export const withoutErrorDetails = "none";

/** How often each side of a connection checks that the other one answers, and how long it waits for the answer. */
export const linkPingMs = 2000;
