import type { Fleet } from "../../../server/fleet/fleet.ts";

const unused = () => Promise.reject(new Error("the gateway under test has no fleet"));

/** The fleet of a gateway that is neither a hub nor a host. */
export const noFleet: Fleet = {
  hub: undefined,
  hosts: undefined,
  membership: {
    join: unused,
    leave: unused,
    state: () => undefined,
    setHubs: unused,
    begin() {},
    async close() {},
  },
};
