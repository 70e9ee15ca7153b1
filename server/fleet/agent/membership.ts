import { X509Certificate } from "node:crypto";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Seal } from "../../crypto/seal.ts";
import type { Store } from "../../store/store.ts";
import {
  certificateDays,
  createSigningRequest,
  type SigningRequest,
} from "../authority/issue-certificate.ts";
import { parseJoinToken } from "../join-token.ts";
import { fleetReasons } from "../reasons.ts";
import { enroll, renew, type StoredMembership } from "./enroll.ts";
import { type HubLinks, type HubState, openHubLinks } from "./hub-links.ts";
import type { LinkServer } from "./link-server.ts";

/** Membership of this gateway, and the state of its connections. */
export interface MembershipState {
  readonly name: string;
  readonly fleetId: string;
  readonly certificateExpiresAtMs: number;
  readonly hubs: readonly HubState[];
}

/** Membership of this gateway in a fleet. While it is a member, it keeps a connection to each hub. */
export interface Membership {
  /** @throws InfraError ALREADY_MEMBER, INVALID_FIELD, and those of `enroll` */
  join(token: string, name: string): Promise<MembershipState>;
  /** @throws InfraError NOT_A_MEMBER */
  leave(): Promise<void>;
  /** Undefined: it is not a member. */
  state(): MembershipState | undefined;
  /** Replaces the addresses of the hubs, as a hub reports them. @throws InfraError STORE_UNAVAILABLE */
  setHubs(hubs: readonly string[]): Promise<void>;
  /** Connects to the hubs, now and after each `join`. */
  begin(): void;
  close(): Promise<void>;
}

export interface MembershipOptions {
  readonly store: Pick<Store, "run">;
  /** `createSeal(masterKeys, "fleet-membership")`. */
  readonly seal: Seal;
  readonly server: LinkServer;
  /** Version of this gateway. */
  readonly version: string;
  readonly log: { info(message: string): void; warn(message: string, cause?: unknown): void };
}

/** A certificate is renewed when a third of its lifetime is left. */
const renewBeforeMs = (certificateDays / 3) * 86_400_000;
const renewCheckMs = 3_600_000;

/** Context of the seal: there is one membership. */
const sealContext = "membership";

/** Loads the membership. @throws InfraError STORE_UNAVAILABLE; Error when it cannot be decrypted */
export async function openMembership(options: MembershipOptions): Promise<Membership> {
  const { store, seal, log } = options;
  let current: StoredMembership | undefined = await load();
  let links: HubLinks | undefined;
  let isJoining = false;
  /** The key of the last token, for which a hub may have issued a certificate that did not arrive. */
  let attempt: { readonly code: string; readonly key: SigningRequest } | undefined;
  let hasBegun = false;
  let last: Promise<unknown> = Promise.resolve();

  /** Changes the membership one after the other: what a hub reports must not undo that the host leaves. */
  function change<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  }

  async function load(): Promise<StoredMembership | undefined> {
    const sealed = await store.run("fleet.membership", undefined);
    return sealed && JSON.parse(Buffer.from(seal.open(sealed, sealContext)).toString());
  }

  async function save(membership: StoredMembership): Promise<void> {
    const sealed = seal.seal(Buffer.from(JSON.stringify(membership)), sealContext);
    await store.run("fleet.setMembership", { sealed });
    current = membership;
  }

  function connect(): void {
    if (current !== undefined && hasBegun) {
      links = openHubLinks({ ...options, membership: () => current, hubs: current.hubs });
    }
  }

  function expiresAtMs({ certificatePem }: StoredMembership): number {
    return new X509Certificate(certificatePem).validToDate.getTime();
  }

  /** Renews the certificate at the first hub that does. Open connections keep the old one until they are opened again. */
  async function renewIfDue(): Promise<void> {
    const membership = current;
    if (membership === undefined || expiresAtMs(membership) - Date.now() > renewBeforeMs) {
      return;
    }
    for (const hub of membership.hubs) {
      try {
        const renewed = await renew(membership, hub);
        await change(async () => {
          if (current?.certificatePem === membership.certificatePem) {
            await save(renewed);
            log.info(`the certificate of this host in its fleet was renewed by ${hub}`);
            links?.setHubs(renewed.hubs);
          }
        });
        return;
      } catch (error) {
        log.warn(`the certificate of this host could not be renewed by ${hub}`, error);
      }
    }
  }

  let timer: NodeJS.Timeout | undefined;

  function state(): MembershipState | undefined {
    if (current === undefined) {
      return undefined;
    }
    const { name, fleetId } = current;
    return { name, fleetId, certificateExpiresAtMs: expiresAtMs(current), hubs: links?.states() ?? [] };
  }

  return {
    async join(token, name) {
      const parsed = parseJoinToken(token);
      if (current !== undefined || isJoining) {
        const message = `this gateway is a member of a fleet as ${current?.name ?? name}; leave it first (hostplane host leave)`;
        throw new InfraError(fleetReasons.ALREADY_MEMBER, message);
      }
      isJoining = true;
      try {
        attempt =
          attempt?.code === parsed.code ? attempt : { code: parsed.code, key: await createSigningRequest() };
        const joined = await enroll(parsed, name, attempt.key);
        await change(() => save(joined));
        attempt = undefined;
      } finally {
        isJoining = false;
      }
      connect();
      await links?.attempted();
      return state() as MembershipState;
    },
    leave: () =>
      change(async () => {
        if (current === undefined) {
          throw new InfraError(fleetReasons.NOT_A_MEMBER, "this gateway is not a member of a fleet");
        }
        await store.run("fleet.removeMembership", undefined);
        current = undefined;
        await links?.close();
        links = undefined;
      }),
    state,
    setHubs: (hubs) =>
      change(async () => {
        if (current !== undefined && current.hubs.toSorted().join() !== hubs.toSorted().join()) {
          log.info(`the hubs of the fleet are ${hubs.join(", ")}`);
          await save({ ...current, hubs });
          links?.setHubs(hubs);
        }
      }),
    begin() {
      hasBegun = true;
      connect();
      timer = setInterval(() => void renewIfDue(), renewCheckMs).unref();
      void renewIfDue();
    },
    async close() {
      clearInterval(timer);
      await links?.close();
    },
  };
}
