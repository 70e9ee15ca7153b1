import type { MaasConstraints, MaasMachine, MaasMachineFilter } from "./machine.ts";

export interface MaasAllocation {
  readonly systemId: string;
  /** Used to find the machine by `machines({ agentName })` until its release begins. */
  readonly agentName: string;
  readonly constraints?: MaasConstraints;
  /** Comment for MAAS's event log. */
  readonly comment?: string;
}

export interface MaasDeployment {
  /** The image, e.g. `ubuntu/noble` or `noble`, or the name of an uploaded one. */
  readonly series: string;
  /** Agent name for a free machine, as in `MaasAllocation`; an allocated machine keeps the one it has. */
  readonly agentName?: string;
  /** User data for cloud-init. It may contain secrets: it never appears in errors, logs or observations. */
  readonly userData?: Uint8Array | string;
  readonly hweKernel?: string;
  /** Runs from memory and does not touch the disks. */
  readonly isEphemeral?: boolean;
  readonly comment?: string;
}

export interface MaasRelease {
  readonly comment?: string;
  /** Erases the disks first, which may take hours; `quick` erases only their partition tables. */
  readonly erase?: "full" | "quick";
}

export interface MaasAccount {
  readonly username: string;
  readonly isAdmin: boolean;
}

export interface MaasVersion {
  /** E.g. `3.4.10`; undefined if not reported, e.g. by a MAAS that was not installed from a package. */
  readonly version: string | undefined;
  readonly capabilities: readonly string[];
}

/** A boot resource, which machines are deployed with. A name appears once for each architecture and kernel. */
export interface MaasImage {
  readonly id: number;
  /** E.g. `ubuntu/noble`, or the name given at upload, without `custom/`. */
  readonly name: string;
  readonly kind: "synced" | "uploaded" | "other";
  /** E.g. `amd64/generic`. */
  readonly architecture: string;
}

export interface MaasPool {
  readonly id: number;
  readonly name: string;
  readonly description: string;
}

export interface MaasEvent {
  readonly id: number;
  /** E.g. `INFO`. */
  readonly level: string;
  /** E.g. `Deploying`. */
  readonly type: string;
  readonly description: string;
  /** Precise to the second; undefined if MAAS uses an unknown format. */
  readonly createdAtMs: number | undefined;
}

export interface MaasAddressReservation {
  /** A subnet, e.g. `10.20.0.0/24`. Either this or `address` is required. */
  readonly subnet?: string;
  /** A specific address. */
  readonly address?: string;
  /** DNS name, e.g. `prod-api` or `prod-api.maas`; without a domain, the default one is used. */
  readonly hostname?: string;
}

export interface MaasSubnet {
  /** E.g. `10.20.0.0/24`. */
  readonly cidr: string;
  /**
   * In a managed subnet, MAAS assigns addresses outside the ranges; in an unmanaged one, only addresses in reserved
   * ranges.
   */
  readonly isManaged: boolean;
}

/** A range of addresses that an administrator has reserved in a subnet, including both ends. */
export interface MaasAddressRange {
  /** `dynamic`: for DHCP. */
  readonly kind: "reserved" | "dynamic";
  readonly first: string;
  readonly last: string;
  readonly subnet: MaasSubnet;
}

/** A check result that `hostplane doctor` and ListBackends report. */
export interface MaasFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that fixes the problem; only where `ok` is false. */
  readonly fix?: string;
}

export interface MaasInspection {
  /** Undefined if it cannot be reached or does not report it. */
  readonly version: string | undefined;
  readonly findings: readonly MaasFinding[];
}

/**
 * A MAAS region, with the permissions of one account, which need not be an administrator. The real adapter uses its API
 * 2.0; the sandbox uses the same client with a fake server. Both pass test/adapters/maas/contract.ts.
 *
 * Any call throws InfraError MAAS_UNAVAILABLE, MAAS_DENIED, MAAS_FAILED, and INVALID_FIELD for an invalid name. Reads
 * are retried within their deadline; they take a signal and throw its reason. A change is never retried: after
 * MAAS_UNAVAILABLE it may have been made, and what was right a moment ago may do harm by now, so the caller must check
 * the state first. If MAAS says when to retry, the error has it as `retryAfterMs`. Nothing is cached.
 */
export interface MaasAdapter {
  readonly kind: "real" | "sandbox";
  /** Normalized URL of this MAAS, e.g. `http://maas:5240/MAAS`, however it was configured. */
  readonly url: string;

  /** Returns the account of the API key. */
  whoami(signal?: AbortSignal): Promise<MaasAccount>;

  version(signal?: AbortSignal): Promise<MaasVersion>;

  /**
   * Returns the machines that pass every filter, in any order. Unknown ids are left out, as are machines of other users
   * unless the account is an administrator. An empty list of ids matches no machine.
   * @throws InfraError MAAS_REFUSED for an owner that MAAS does not know
   */
  machines(filter?: MaasMachineFilter, signal?: AbortSignal): Promise<readonly MaasMachine[]>;

  /**
   * @throws InfraError MACHINE_NOT_FOUND, only when MAAS itself reports it: any other server that answers 404 is
   * MAAS_FAILED;
   *   MACHINE_TAKEN when another user has it, since MAAS shows such machines only to administrators
   */
  machine(systemId: string, signal?: AbortSignal): Promise<MaasMachine>;

  /**
   * Returns a machine that `allocate` could allocate now; changes nothing. Returns the same machine each time while
   * nothing else changes.
   * @throws InfraError NO_MACHINE; MAAS_REFUSED for a tag, pool, zone or architecture that MAAS does not have
   */
  choose(constraints: MaasConstraints, signal?: AbortSignal): Promise<MaasMachine>;

  /**
   * Allocates this machine, if it is free and meets the constraints.
   * @throws InfraError MACHINE_TAKEN when it is not free (even if it is ours), does not exist or does not meet the
   *   constraints, which MAAS does not distinguish; MAAS_REFUSED as `choose`
   */
  allocate(allocation: MaasAllocation): Promise<MaasMachine>;

  /**
   * Sets annotations on a machine of ours, and removes those that are undefined; others stay.
   * @throws InfraError MACHINE_NOT_FOUND, MACHINE_STATE (it has no owner), MACHINE_TAKEN (it has another owner),
   * MACHINE_LOCKED
   */
  annotate(systemId: string, annotations: Readonly<Record<string, string | undefined>>): Promise<MaasMachine>;

  /**
   * Starts to install an allocated machine; must not be retried. A free machine is allocated first.
   * @throws InfraError MACHINE_STATE (also when it is deploying or deployed already), MAAS_REFUSED (no such image),
   * NO_ADDRESS,
   *   MACHINE_NOT_FOUND, MACHINE_TAKEN, MACHINE_LOCKED
   */
  deploy(systemId: string, deployment: MaasDeployment): Promise<MaasMachine>;

  /**
   * Releases a machine: it is `releasing` or `diskErasing` for a while, keeps its owner and annotations until it is
   * `ready`, and may end as `failedReleasing` or `failedDiskErasing`. Does nothing for a machine that is being released
   * or ready.
   * @throws InfraError MACHINE_STATE, MACHINE_NOT_FOUND, MACHINE_TAKEN, MACHINE_LOCKED
   */
  release(systemId: string, release?: MaasRelease): Promise<MaasMachine>;

  /**
   * Prevents all changes to a machine that is deploying or deployed.
   * @throws InfraError MACHINE_STATE (also when it is locked), MACHINE_NOT_FOUND, MACHINE_TAKEN
   */
  lock(systemId: string, comment?: string): Promise<MaasMachine>;

  /** @throws InfraError MACHINE_STATE when it is not locked, MACHINE_NOT_FOUND, MACHINE_TAKEN */
  unlock(systemId: string, comment?: string): Promise<MaasMachine>;

  /**
   * Aborts a deployment: the machine is soon `allocated` again, with its agent name and annotations.
   * @throws InfraError MACHINE_STATE when there is nothing to abort, MACHINE_NOT_FOUND, MACHINE_TAKEN, MACHINE_LOCKED
   */
  abort(systemId: string, comment?: string): Promise<MaasMachine>;

  /**
   * Marks a machine as broken, so that it is not used until an administrator marks it as fixed. It is released: owner
   * and annotations are removed.
   * @throws InfraError MACHINE_NOT_FOUND, MACHINE_TAKEN, MACHINE_LOCKED
   */
  markBroken(systemId: string, comment: string): Promise<MaasMachine>;

  images(signal?: AbortSignal): Promise<readonly MaasImage[]>;

  /** Returns the names of all tags, sorted. */
  tags(signal?: AbortSignal): Promise<readonly string[]>;

  pools(signal?: AbortSignal): Promise<readonly MaasPool[]>;

  /** Returns the addresses that the account has reserved. */
  addresses(signal?: AbortSignal): Promise<readonly string[]>;

  subnets(signal?: AbortSignal): Promise<readonly MaasSubnet[]>;

  /** Returns the ranges of all subnets, of every owner. */
  addressRanges(signal?: AbortSignal): Promise<readonly MaasAddressRange[]>;

  /**
   * Reserves an address for a host that MAAS does not deploy, with a DNS name if one is given. Without `address`, each
   * call reserves another one: after MAAS_UNAVAILABLE, an address may be reserved that only `addresses` shows.
   * @throws InfraError ADDRESS_TAKEN, NO_ADDRESS, MAAS_REFUSED (no such subnet or domain, or an address that MAAS
   * reserves
   *   for others)
   */
  reserveAddress(reservation: MaasAddressReservation): Promise<string>;

  /** Releases an address. Does nothing for an address that the account has not reserved. */
  releaseAddress(address: string): Promise<void>;

  /**
   * Returns the events of a machine, newest first; empty for an unknown one.
   * @param limit at most 1,000
   */
  events(systemId: string, limit: number, signal?: AbortSignal): Promise<readonly MaasEvent[]>;

  /** Checks the access to MAAS. Never throws. */
  inspect(): Promise<MaasInspection>;

  /** Cancels pending calls. */
  close(): Promise<void>;
}
