import { InfraError } from "../../../adapters/host/infra-error.ts";
import { FleetService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { handlersOf } from "../../domain/change.ts";
import type { VisibilityOf } from "../../domain/visibility.ts";
import { grantedHosts } from "../../fleet/caller/granted-hosts.ts";
import { hostsWith } from "../../fleet/hub/hosts-with.ts";
import type { Hub } from "../../fleet/hub/hub.ts";
import type { HostRecord } from "../../fleet/store/hosts.ts";
import type { Call } from "../../rpc/call/call.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { watchState } from "../../rpc/streams/watch-state.ts";
import { type CallHostsOptions, callHosts } from "./call-hosts.ts";
import type { FleetChanges } from "./changes/fleet-changes.ts";
import { hostMessage } from "./host-message.ts";
import { pageOfHosts, partsOfHosts } from "./host-pages.ts";
import { fleetServiceReasons } from "./reasons.ts";

/** Creates hostplane.v1.FleetService: the hosts of a hub. */
export function createFleetService(
  hub: () => Hub,
  changes: FleetChanges,
  calls: Omit<CallHostsOptions, "hub">,
  visibilityOf: VisibilityOf,
): ServiceRegistration {
  /** Returns the hosts that have all of the labels, as far as the caller's grants cover them. */
  const select = (labels: Readonly<Record<string, string>>, call: Call) =>
    hostsWith(grantedHosts(hub().hosts, call).list(), labels);
  const messages = (hosts: readonly HostRecord[], call: Call) => {
    const visibility = visibilityOf(call);
    return hosts.map((record) => hostMessage(record, hub(), visibility));
  };

  return registerService(FleetService, {
    async listHosts(request, call) {
      const { page, nextPageToken } = pageOfHosts(select(request.labels, call), request);
      return { hosts: messages(page, call), nextPageToken };
    },
    async *watchHosts({ labels }, call) {
      const { hosts, links, hubs, problems } = hub();
      const subscribe = (wake: () => void) => {
        const stops = [hosts, links, hubs, problems].map((source) => source.onChange(wake));
        return () => {
          for (const stop of stops) {
            stop();
          }
        };
      };
      for await (const state of watchState(subscribe, async () => select(labels, call), call.signal)) {
        const parts = partsOfHosts(state);
        for (const [index, part] of parts.entries()) {
          yield { hosts: messages(part, call), more: index < parts.length - 1 };
        }
      }
    },
    callHosts: (request, call) => callHosts({ hub: hub(), ...calls }, request, call),
    ...handlersOf(changes),
  });
}

/** Returns a function that returns the hub. It throws NOT_A_HUB if there is none. */
export function requireHub(hub: Hub | undefined): () => Hub {
  return () => {
    if (hub === undefined) {
      const message = "this gateway is not a hub: set fleet.hub in the configuration (fleet: {hub: {}})";
      throw new InfraError(fleetServiceReasons.NOT_A_HUB, message);
    }
    return hub;
  };
}
