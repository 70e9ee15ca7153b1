import type { HubCaller } from "./hub-caller.ts";

/** Describes a hub that calls its hosts for itself, with the role of a viewer. @param hub its name */
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
