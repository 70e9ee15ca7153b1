import type { MaasConstraints, MaasMachine, MaasMachineFilter } from "./machine.ts";

export interface MaasAllocation {
  readonly systemId: string;
  /** Found again by `machines({ agentName })` until the machine's release begins. */
  readonly agentName: string;
  readonly constraints?: MaasConstraints;
  /** For MAAS's event log. */
  readonly comment?: string;
}

export interface MaasDeployment {
  /** The image, as `ubuntu/noble` or `noble`, or the name of one that was uploaded. */
  readonly series: string;
  /** Under which a machine is taken that is free, as `MaasAllocation` has it; one that is allocated keeps what it has. */
  readonly agentName?: string;
  /** For cloud-init. It may hold secrets: it is in no error, no log and no observation. */
  readonly userData?: Uint8Array | string;
  readonly hweKernel?: string;
  /** Runs from memory and leaves the disks alone. */
  readonly isEphemeral?: boolean;
  readonly comment?: string;
}

export interface MaasRelease {
  readonly comment?: string;
  /** Overwrites the disks first, which may take hours; `quick` only where their tables are. */
  readonly erase?: "full" | "quick";
}

export interface MaasAccount {
  readonly username: string;
  readonly isAdmin: boolean;
}

export interface MaasVersion {
  /** As `3.4.10`; undefined when it does not tell, as MAAS does that is not run from a package. */
  readonly version: string | undefined;
  readonly capabilities: readonly string[];
}

/** A boot resource: something that machines are deployed with. The same name comes once for each architecture and kernel. */
export interface MaasImage {
  readonly id: number;
  /** As `ubuntu/noble`, or as it was named by whoever uploaded it, without `custom/`. */
  readonly name: string;
  readonly kind: "synced" | "uploaded" | "other";
  /** As `amd64/generic`. */
  readonly architecture: string;
}

export interface MaasPool {
  readonly id: number;
  readonly name: string;
  readonly description: string;
}

export interface MaasEvent {
  readonly id: number;
  /** As `INFO`. */
  readonly level: string;
  /** As `Deploying`. */
  readonly type: string;
  readonly description: string;
  /** In whole seconds; undefined when MAAS writes it in another way than it is known to. */
  readonly createdAtMs: number | undefined;
}

export interface MaasAddressReservation {
  /** A subnet, as `10.20.0.0/24`. Either this or `address` is needed. */
  readonly subnet?: string;
  /** This one and no other. */
  readonly address?: string;
  /** For DNS, as `prod-api` or `prod-api.maas`; the default domain unless it has one. */
  readonly hostname?: string;
}

export interface MaasSubnet {
  /** As `10.20.0.0/24`. */
  readonly cidr: string;
  /** MAAS gives machines any address of a managed subnet outside its ranges, and of an unmanaged one only those of reserved ranges. */
  readonly isManaged: boolean;
}

/** A range of addresses that an administrator has set apart in a subnet; both ends are in it. */
export interface MaasAddressRange {
  /** `dynamic`: for DHCP. */
  readonly kind: "reserved" | "dynamic";
  readonly first: string;
  readonly last: string;
  readonly subnet: MaasSubnet;
}

/** Something `hostplane doctor` and ListBackends tell about the system. */
export interface MaasFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that would mend it; only where `ok` is false. */
  readonly fix?: string;
}

export interface MaasInspection {
  /** Undefined when it cannot be reached, or does not tell. */
  readonly version: string | undefined;
  readonly findings: readonly MaasFinding[];
}

/**
 * A MAAS region, with the rights of one account, which need not be an administrator. The real one speaks to its API 2.0; the
 * sandbox is the same client before a server of its own. Both pass test/adapters/maas/contract.ts.
 *
 * Any call throws InfraError MAAS_UNAVAILABLE, MAAS_DENIED, MAAS_FAILED, and INVALID_FIELD for a name that is none. Reads are
 * repeated for as long as their deadline allows and take a signal, whose reason they throw. A change is never repeated:
 * MAAS_UNAVAILABLE of a change may mean that it was made, and what was right a moment ago may do harm by now, so whoever gets it
 * has to look. Where MAAS says when to ask again, the error has it as `retryAfterMs`. Nothing is cached.
 */
export interface MaasAdapter {
  readonly kind: "real" | "sandbox";
  /** Which MAAS this is, as `http://maas:5240/MAAS`, the same however it was configured. */
  readonly url: string;

  /** Whose API key it is. */
  whoami(signal?: AbortSignal): Promise<MaasAccount>;

  version(signal?: AbortSignal): Promise<MaasVersion>;

  /**
   * The machines that pass every filter, in any order. Ids that MAAS does not know are left out, and machines of other users
   * unless the account is an administrator; no ids at all are no machines.
   * @throws InfraError MAAS_REFUSED for an owner that MAAS does not know
   */
  machines(filter?: MaasMachineFilter, signal?: AbortSignal): Promise<readonly MaasMachine[]>;

  /**
   * @throws InfraError MACHINE_NOT_FOUND, only when MAAS itself says so: whatever else answers 404 in its place is MAAS_FAILED;
   *   MACHINE_TAKEN when another user has it, which MAAS shows to administrators alone
   */
  machine(systemId: string, signal?: AbortSignal): Promise<MaasMachine>;

  /**
   * A machine that `allocate` could be given now; changes nothing. The same one each time while nothing else changes.
   * @throws InfraError NO_MACHINE; MAAS_REFUSED for a tag, pool, zone or architecture that MAAS does not have
   */
  choose(constraints: MaasConstraints, signal?: AbortSignal): Promise<MaasMachine>;

  /**
   * Takes this machine and no other, if it is free and like that.
   * @throws InfraError MACHINE_TAKEN when it is not free (also when we have it already), not there, or not like that, between
   *   which MAAS does not distinguish; MAAS_REFUSED as `choose`
   */
  allocate(allocation: MaasAllocation): Promise<MaasMachine>;

  /**
   * Writes annotations on a machine of ours, and removes those that are undefined; others stay.
   * @throws InfraError MACHINE_NOT_FOUND, MACHINE_STATE (nobody has it), MACHINE_TAKEN (somebody else has), MACHINE_LOCKED
   */
  annotate(systemId: string, annotations: Readonly<Record<string, string | undefined>>): Promise<MaasMachine>;

  /**
   * Starts to install a machine that is allocated; not repeatable. A machine that is free is taken first.
   * @throws InfraError MACHINE_STATE (also when it is deploying or deployed already), MAAS_REFUSED (no such image), NO_ADDRESS,
   *   MACHINE_NOT_FOUND, MACHINE_TAKEN, MACHINE_LOCKED
   */
  deploy(systemId: string, deployment: MaasDeployment): Promise<MaasMachine>;

  /**
   * Gives a machine back: it is `releasing` or `diskErasing` for a while, keeps its owner and annotations until it is `ready`,
   * and may end as `failedReleasing` or `failedDiskErasing`. One that is on its way or ready is left as it is.
   * @throws InfraError MACHINE_STATE, MACHINE_NOT_FOUND, MACHINE_TAKEN, MACHINE_LOCKED
   */
  release(systemId: string, release?: MaasRelease): Promise<MaasMachine>;

  /**
   * Keeps everybody from changing a machine that is deploying or deployed.
   * @throws InfraError MACHINE_STATE (also when it is locked), MACHINE_NOT_FOUND, MACHINE_TAKEN
   */
  lock(systemId: string, comment?: string): Promise<MaasMachine>;

  /** @throws InfraError MACHINE_STATE when it is not locked, MACHINE_NOT_FOUND, MACHINE_TAKEN */
  unlock(systemId: string, comment?: string): Promise<MaasMachine>;

  /**
   * Stops a deployment: the machine is soon `allocated` again, with its agent name and annotations.
   * @throws InfraError MACHINE_STATE when nothing is under way, MACHINE_NOT_FOUND, MACHINE_TAKEN, MACHINE_LOCKED
   */
  abort(systemId: string, comment?: string): Promise<MaasMachine>;

  /**
   * Says that a machine is not to be used until an administrator says that it is. It is released: owner and annotations go.
   * @throws InfraError MACHINE_NOT_FOUND, MACHINE_TAKEN, MACHINE_LOCKED
   */
  markBroken(systemId: string, comment: string): Promise<MaasMachine>;

  images(signal?: AbortSignal): Promise<readonly MaasImage[]>;

  /** The names of all tags, in order. */
  tags(signal?: AbortSignal): Promise<readonly string[]>;

  pools(signal?: AbortSignal): Promise<readonly MaasPool[]>;

  /** The addresses that the account has reserved. */
  addresses(signal?: AbortSignal): Promise<readonly string[]>;

  subnets(signal?: AbortSignal): Promise<readonly MaasSubnet[]>;

  /** The ranges of all subnets, of every owner. */
  addressRanges(signal?: AbortSignal): Promise<readonly MaasAddressRange[]>;

  /**
   * Keeps an address for what MAAS does not deploy, with a name in DNS if one is given. Without `address` each call brings
   * another one: after MAAS_UNAVAILABLE one may be reserved that nobody knows of but `addresses`.
   * @throws InfraError ADDRESS_TAKEN, NO_ADDRESS, MAAS_REFUSED (no such subnet or domain, or an address that MAAS keeps for others)
   */
  reserveAddress(reservation: MaasAddressReservation): Promise<string>;

  /** Gives an address back. One that the account has not reserved is left as it is. */
  releaseAddress(address: string): Promise<void>;

  /**
   * What happened to a machine, newest first; nothing for one that MAAS does not know.
   * @param limit at most 1,000
   */
  events(systemId: string, limit: number, signal?: AbortSignal): Promise<readonly MaasEvent[]>;

  /** What is there and what is missing. Never throws. */
  inspect(): Promise<MaasInspection>;

  /** Gives up what is under way. */
  close(): Promise<void>;
}
