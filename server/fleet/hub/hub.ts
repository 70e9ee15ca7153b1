import { createHash, randomBytes, X509Certificate } from "node:crypto";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import { fleetHostName } from "../../config/fleet-schema.ts";
import type { Seal } from "../../crypto/seal.ts";
import { recordChanged } from "../../store/record-changed.ts";
import type { Store } from "../../store/store.ts";
import type { ChangeMode, DryRun } from "../../store/transaction.ts";
import { createFleetAuthority, type FleetAuthority } from "../authority/authority.ts";
import {
  type CertifiedHost,
  certificateDays,
  issueAgentCertificate,
  readSigningRequest,
} from "../authority/issue-certificate.ts";
import { hostUnknown } from "../host-errors.ts";
import { formatJoinToken, rootFingerprintOf } from "../join-token.ts";
import { fleetReasons } from "../reasons.ts";
import type { HostRecord, HostResult } from "../store/hosts.ts";
import { createHostLinks, type OpenLinks } from "./host-links.ts";
import { createHostProblems, type HostProblems } from "./host-problems.ts";
import { type HubHosts, openHubHosts } from "./hub-hosts.ts";
import { type Hubs, openHubs } from "./hubs.ts";

/** A certificate that a hub has issued, and what a host needs to use it. */
export interface IssuedToHost {
  readonly name: string;
  readonly fleetId: string;
  /** The host's certificate and its issuer, DER. */
  readonly certificates: readonly Uint8Array[];
  /** The issuer of certificates of hubs, DER. */
  readonly hubAuthority: Uint8Array;
  readonly hubs: readonly string[];
}

/** A token to create; the host gets the name and the labels. */
export interface RequestedToken {
  /** Empty: the name that the host asks for. */
  readonly host: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly lifetimeMs: number;
  readonly createdBy: string;
}

/** The hosts of a hub, with their connections, tokens and certificates. */
export interface Hub {
  /** Name of this hub, for people. */
  readonly name: string;
  readonly authority: FleetAuthority;
  readonly hosts: HubHosts;
  readonly links: OpenLinks;
  readonly problems: HostProblems;
  readonly hubs: Hubs;
  /** @throws InfraError INVALID_FIELD */
  createToken(
    requested: RequestedToken,
    how: DryRun,
  ): Promise<{ readonly token: string; readonly expiresAtMs: number }>;
  /** @throws InfraError JOIN_TOKEN_REFUSED, HOST_EXISTS, INVALID_FIELD */
  enroll(code: string, name: string, signingRequest: Uint8Array): Promise<IssuedToHost>;
  /** @throws InfraError HOST_UNKNOWN, INVALID_FIELD */
  renew(host: CertifiedHost, signingRequest: Uint8Array): Promise<IssuedToHost>;
  /** @throws InfraError HOST_UNKNOWN, RECORD_CHANGED */
  setLabels(
    name: string,
    labels: Readonly<Record<string, string>>,
    how: ChangeMode<HostRecord>,
  ): Promise<HostRecord>;
  /** @throws InfraError HOST_UNKNOWN, RECORD_CHANGED */
  removeHost(name: string, how: ChangeMode<HostRecord>): Promise<HostRecord>;
  close(): Promise<void>;
}

export interface HubOptions {
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  /** Identifies this process. */
  readonly instanceId: string;
  /** `createSeal(masterKeys, "fleet-authority")`. */
  readonly seal: Seal;
  /** Name of this hub, for people. */
  readonly name: string;
  /** Addresses of this hub for agents, as `host:port`. */
  readonly ownAddresses: () => readonly string[];
  readonly log: { warn(message: string, cause?: unknown): void };
}

const codeBytes = 32;

/** Context of the seal: a fleet has one authority. */
const sealContext = "authority";

/** Opens the fleet of a hub: its authority, which the first hub creates, and its hosts. */
export async function openHub(options: HubOptions): Promise<Hub> {
  const { store, seal, name, log } = options;
  const authority = await openAuthority(store, seal);
  const hosts = await openHubHosts(store, (error) =>
    log.warn("the hosts of the fleet cannot be read", error),
  );
  const links = createHostLinks();
  const problems = createHostProblems(log);
  const hubs = await openHubs({ ...options, links });
  // Another hub may have removed a host, or this one while the host was connecting.
  const closeRemoved = () => links.closeRemoved(hosts.has);
  const stopWatching = [hosts.onChange(closeRemoved), links.onChange(closeRemoved)];

  function issued(name: string, certificatePem: string): IssuedToHost {
    const derOf = (pem: string) => new Uint8Array(new X509Certificate(pem).raw);
    return {
      name,
      fleetId: authority.fleetId,
      certificates: [derOf(certificatePem), derOf(authority.agentIssuer.certificatePem)],
      hubAuthority: derOf(authority.hubIssuer.certificatePem),
      hubs: hubs.addresses(),
    };
  }

  const expiryOfNew = () => Date.now() + certificateDays * 86_400_000;

  return {
    name,
    authority,
    hosts,
    links,
    problems,
    hubs,
    async createToken({ host, labels, lifetimeMs, createdBy }, { dryRun = false }) {
      if (host !== "") {
        assertHostName(host, "host");
      }
      const code = randomBytes(codeBytes).toString("base64url");
      const { expiresAtMs } = await store.run("fleet.createToken", {
        codeHash: hashOf(code),
        host: host === "" ? null : host,
        labels,
        createdBy,
        lifetimeMs,
        dryRun,
      });
      const rootFingerprint = rootFingerprintOf(authority);
      return { token: formatJoinToken({ hubs: hubs.addresses(), rootFingerprint, code }), expiresAtMs };
    },
    async enroll(code, asked, signingRequest) {
      assertHostName(asked, "name");
      const publicKey = await readSigningRequest(signingRequest);
      const id = hostIdFrom(code, signingRequest);
      const redeemed = await store.run("fleet.redeemToken", {
        codeHash: hashOf(code),
        name: asked,
        id,
        certificateExpiresAtMs: expiryOfNew(),
      });
      if (!redeemed.ok) {
        throw refusalOf(redeemed.why, asked);
      }
      await hosts.refresh();
      const host = { name: redeemed.name, id };
      return issued(host.name, await issueAgentCertificate(authority, host, publicKey));
    },
    async renew(host, signingRequest) {
      const publicKey = await readSigningRequest(signingRequest);
      if (!hosts.has(host)) {
        throw hostUnknown(host.name, hosts.list());
      }
      const { isKnown } = await store.run("fleet.noteCertificate", {
        id: host.id,
        expiresAtMs: expiryOfNew(),
      });
      // Another hub may have removed it just now.
      if (!isKnown) {
        throw hostUnknown(host.name, hosts.list());
      }
      return issued(host.name, await issueAgentCertificate(authority, host, publicKey));
    },
    async setLabels(host, labels, how) {
      const result = await store.run("fleet.setLabels", { name: host, labels, ...how });
      const record = hostFrom(result, host, hosts);
      await hosts.refresh();
      return record;
    },
    async removeHost(host, how) {
      const result = await store.run("fleet.removeHost", { name: host, ...how });
      const record = hostFrom(result, host, hosts);
      await hosts.refresh();
      return record;
    },
    async close() {
      for (const stop of stopWatching) {
        stop();
      }
      hosts.close();
      links.close();
      problems.close();
      await hubs.close();
    },
  };
}

/** @throws InfraError HOST_UNKNOWN, RECORD_CHANGED */
function hostFrom(result: HostResult, name: string, hosts: Pick<HubHosts, "list">): HostRecord {
  if (result.ok) {
    return result.host;
  }
  throw result.why === "changed" ? recordChanged(`hosts/${name}`) : hostUnknown(name, hosts.list());
}

async function openAuthority(store: HubOptions["store"], seal: Seal): Promise<FleetAuthority> {
  const sealed = (await store.run("fleet.authority", undefined)) ?? (await makeAuthority(store, seal));
  return JSON.parse(Buffer.from(seal.open(sealed, sealContext)).toString());
}

/** Returns the sealed authority that another hub has made meanwhile, if one has. */
async function makeAuthority(store: HubOptions["store"], seal: Seal): Promise<Uint8Array> {
  const text = JSON.stringify(await createFleetAuthority());
  return store.run("fleet.makeAuthority", { sealed: seal.seal(Buffer.from(text), sealContext) });
}

/** @throws InfraError INVALID_FIELD */
function assertHostName(name: string, field: string): void {
  const { error } = fleetHostName.safeParse(name);
  if (error !== undefined) {
    throw invalidField(field, error.issues[0]?.message ?? "expected the name of a host");
  }
}

function refusalOf(why: "unknown" | "used" | "expired" | "exists", name: string): InfraError {
  switch (why) {
    case "exists":
      return new InfraError(
        fleetReasons.HOST_EXISTS,
        `the fleet already has a host "${name}"; remove it first (hostplane host remove ${name}), or join with another name`,
      );
    case "used":
      return new InfraError(
        fleetReasons.JOIN_TOKEN_REFUSED,
        "the token was used already; each token is valid for one host",
      );
    case "expired":
      return new InfraError(fleetReasons.JOIN_TOKEN_REFUSED, "the token has expired");
    default:
      return new InfraError(fleetReasons.JOIN_TOKEN_REFUSED, "this fleet has not issued the token");
  }
}

/** Returns the ID of the host that sends a request to join: a UUID of version 8, the same one when it repeats the request. */
function hostIdFrom(code: string, signingRequest: Uint8Array): string {
  const bytes = createHash("sha256").update(code).update(signingRequest).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function hashOf(code: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(code).digest());
}
