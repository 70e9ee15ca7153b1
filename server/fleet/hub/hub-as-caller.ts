import type { HubCaller } from "../caller/hub-caller.ts";

/** Describes a hub as the caller of its own calls to hosts. @param hub name of the hub */
export function hubAsCaller(hub: string): HubCaller {
  return {
    actor: `hub/${hub}`,
    accountId: "hub",
    role: "viewer",
    services: undefined,
    address: "hub",
    hub,
    requestId: "",
  };
}
