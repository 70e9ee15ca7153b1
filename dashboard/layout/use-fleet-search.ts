import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Resource } from "../../gen/hostplane/v1/inventory_pb.ts";
import { host } from "../host/host.ts";
import { hosts } from "../live/hosts.ts";
import { gateway } from "../session.ts";

/** Pause after a key before the hub is asked. */
const pauseMs = 150;
const mostFound = 12;

/** What was found on other hosts than the one that the page shows. */
export interface FleetSearch {
  readonly resources: readonly Resource[];
  readonly isSearching: boolean;
}

const nothing: FleetSearch = { resources: [], isSearching: false };

/** Searches the resources of all hosts of the fleet, on its hub. Finds nothing on a gateway that is not in a fleet. */
export function useFleetSearch(text: string): ReadonlySignal<FleetSearch> {
  const found = useSignal(nothing);
  const query = text.trim();
  const isInFleet = hosts.value.hosts !== undefined;
  useEffect(() => {
    if (query === "" || !isInFleet) {
      found.value = nothing;
      return undefined;
    }
    found.value = { ...found.peek(), isSearching: true };
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const request = { filter: { search: query, hosts: otherHosts() }, pageSize: mostFound };
        const { resources } = await gateway.inventory.listResources(request, { signal: stop.signal });
        found.value = { resources, isSearching: false };
      } catch {
        // What the page itself knows is found anyway.
        if (!stop.signal.aborted) {
          found.value = nothing;
        }
      }
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [query, isInFleet, found]);
  return found;
}

/** The page finds by itself what it shows. The hub's own resources have an empty host. */
function otherHosts(): string[] {
  const shown = host ?? "";
  return ["", ...(hosts.peek().hosts ?? []).map(({ name }) => name)].filter((name) => name !== shown);
}
