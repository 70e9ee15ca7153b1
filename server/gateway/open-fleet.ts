import { parseListenAddress } from "../config/listen-address.ts";
import { createSeal } from "../crypto/seal.ts";
import { createLinkServer, type LinkServer, type LinkServerOptions } from "../fleet/agent/link-server.ts";
import { type Membership, openMembership } from "../fleet/agent/membership.ts";
import { issueHubCertificate } from "../fleet/authority/issue-certificate.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { FleetHosts } from "../fleet/forward/fleet-hosts.ts";
import { createAgentsListener, tlsCertificate } from "../fleet/hub/agents-listener.ts";
import { fleetHostsOf } from "../fleet/hub/fleet-hosts-of.ts";
import { type Hub, openHub } from "../fleet/hub/hub.ts";
import type { OperationsLog } from "../operations/operations-options.ts";
import type { Listener } from "../rpc/listener/listener.ts";
import type { UnknownCallers } from "../rpc/listener/unknown-callers/unknown-callers.ts";
import type { Config } from "./config/schema.ts";
import type { Data } from "./open-data.ts";

export interface OpenFleetOptions {
  readonly config: Config;
  readonly data: Data;
  /** Version of this gateway. */
  readonly version: string;
  readonly instance: {
    /** Name of this host. */
    readonly host: string;
    readonly instanceId: string;
  };
  readonly log: Pick<OperationsLog, "warn"> & { info(message: string): void };
  /** Answer the requests of hubs. */
  readonly handlers: LinkServerOptions;
  /** The hosts in place of those that have joined, for tests. */
  readonly fleetHosts?: FleetHosts | undefined;
}

/** The fleet of a gateway, and what its start needs. */
export interface OpenFleet extends Fleet {
  /** Serves the hub at the other end of a connection. */
  readonly serveHub: LinkServer["serve"];
  /** Creates the listener for agents; undefined unless the gateway is a hub. */
  createListener(unknownCallers: UnknownCallers): Promise<Listener | undefined>;
  /** Connects to the hubs of the fleet, and reports this hub to the others. */
  begin(): void;
  close(): Promise<void>;
}

/** A hub's certificate is renewed this often; it is valid for thirty days. */
const renewEveryMs = 86_400_000;

/** Opens the hub, if one is configured, and the membership. @throws InfraError STORE_UNAVAILABLE */
export async function openFleet(options: OpenFleetOptions): Promise<OpenFleet> {
  const { config, data, instance, version, log, handlers } = options;
  const { host, instanceId } = instance;
  const server = createLinkServer(handlers, (hubs) => membership.setHubs(hubs));
  const membership: Membership = await openMembership({
    store: data.store,
    seal: createSeal(data.masterKeys, "fleet-membership"),
    server,
    version,
    log,
  });
  let listener: Listener | undefined;
  let renewal: NodeJS.Timeout | undefined;
  const settings = config.fleet.hub;
  const hub =
    settings === undefined
      ? undefined
      : await openHub({
          store: data.store,
          seal: createSeal(data.masterKeys, "fleet-authority"),
          name: host,
          instanceId,
          ownAddresses: () =>
            settings.addresses ?? [`${host}:${portOf(listener?.address() ?? settings.listen)}`],
          log,
        });

  return {
    hub,
    membership,
    hosts: options.fleetHosts ?? (hub && fleetHostsOf(hub)),
    serveHub: server.serve,
    async createListener(unknownCallers) {
      if (hub === undefined || settings === undefined) {
        return undefined;
      }
      const created = await createHubListener(hub, settings.listen, options, unknownCallers);
      renewal = setInterval(async () => {
        const renewed = await issueHubCertificate(hub.authority);
        created.reloadCertificate(tlsCertificate(hub.authority, renewed));
      }, renewEveryMs).unref();
      listener = created;
      return created;
    },
    begin() {
      membership.begin();
      hub?.hubs.begin();
    },
    async close() {
      clearInterval(renewal);
      await membership.close();
      server.close();
      await hub?.close();
    },
  };
}

async function createHubListener(
  { authority, links, hosts, problems }: Hub,
  address: string,
  { config, version, log, handlers }: OpenFleetOptions,
  unknownCallers: UnknownCallers,
): Promise<Listener> {
  const parsed = parseListenAddress(address);
  if (typeof parsed === "string") {
    throw new TypeError(`${address}: ${parsed}`);
  }
  return createAgentsListener({
    address: parsed,
    authority,
    certificate: await issueHubCertificate(authority),
    config,
    unknownCallers,
    version,
    links,
    problems,
    async isHost(host) {
      // It may have joined through another hub a moment ago.
      if (!hosts.has(host)) {
        await hosts.refresh().catch(() => {});
      }
      return hosts.has(host);
    },
    onRequest: handlers.onRequest,
    log,
  });
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(":") + 1);
}
