/** The protocol for which an agent's connection is upgraded. After that, the hub is the HTTP/2 client on it. */
export const linkProtocol = "hostplane-link/1";

/** The path of the request that asks for it. */
export const linkPath = "/fleet/link";

/** The path at which an agent takes the addresses of all hubs, as JSON. */
export const hubsPath = "/fleet/hubs";

/** How often each side of a connection asks whether the other one is alive, and how long it waits for the answer. */
export const linkPingMs = 2000;
