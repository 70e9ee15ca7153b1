import type { CallOptions } from "@connectrpc/connect";
import { computed, signal } from "@preact/signals";
import { FleetService, type Host } from "../../gen/hostplane/v1/fleet_pb.ts";
import { host } from "../host/host.ts";
import { gateway } from "../session.ts";
import { whileVisible } from "./while-visible.ts";

/** The hosts of the fleet. */
export interface Hosts {
  /** Ordered by name; undefined until they are read, and on a gateway that is not a hub. */
  readonly hosts: readonly Host[] | undefined;
  /** The error that ended the stream. */
  readonly error: unknown;
}

/** Live, for the whole page. */
export const hosts = signal<Hosts>({ hosts: undefined, error: undefined });

/** The host that this page shows; undefined until the hosts are read, and if the fleet has no such host. */
export const shownHost = computed<Host | undefined>(() =>
  hosts.value.hosts?.find(({ name }) => name === host),
);

/** Follows the hosts of a hub until the returned function is called. */
export function followHosts(): () => void {
  const fleet = gateway.serviceClient(FleetService);
  const stop = whileVisible((stopSignal) => void follow(stopSignal));
  async function follow(stopSignal: AbortSignal): Promise<void> {
    try {
      let parts: readonly Host[] = [];
      const open = (options: CallOptions) => {
        // A stream that is opened again begins with the whole state.
        parts = [];
        return fleet.watchHosts({}, options);
      };
      for await (const message of gateway.watch(open, { signal: stopSignal })) {
        parts = [...parts, ...message.hosts];
        if (!message.more) {
          hosts.value = { hosts: parts, error: undefined };
          parts = [];
        }
      }
    } catch (error) {
      if (!stopSignal.aborted) {
        hosts.value = { ...hosts.peek(), error };
      }
    }
  }
  return () => {
    stop();
    hosts.value = { hosts: undefined, error: undefined };
  };
}
