import { setTimeout as sleep } from "node:timers/promises";
import type { Reason } from "../../adapters/host/define-reasons.ts";
import type { ResticAdapter } from "../../adapters/restic/adapter.ts";
import { resticReasons } from "../../adapters/restic/reasons.ts";
import {
  type Backend,
  type BackendStatus,
  createAbsentBackend,
  createPolledStatus,
} from "../domain/backend.ts";
import type { Operation, OperationFailure } from "../operations/operation.ts";
import type { Operations } from "../operations/operations.ts";
import { backupsOff } from "./backups-off.ts";

export interface ResticBackendOptions {
  readonly domain: string;
  /** Prefix of its operation kinds, e.g. `volumes`. Operations that use a repository have it as `place` in their input. */
  readonly kindStart: string;
  readonly restic: ResticAdapter;
  readonly operations: Pick<Operations, "list">;
  /** Name of this host. */
  readonly host: string;
  /** How long a status is cached. Default: 10 s. */
  readonly freshMs?: number;
}

const name = "restic";
const services = ["hostplane.v1.BackupService"];

/** Failures of a repository itself, rather than of a backup in it. */
const ofRepository: readonly Reason[] = [
  resticReasons.REPOSITORY_NOT_FOUND,
  resticReasons.REPOSITORY_KEY_WRONG,
  resticReasons.REPOSITORY_DENIED,
  resticReasons.REPOSITORY_UNREACHABLE,
  resticReasons.REPOSITORY_LOCKED,
];

/** How long the inspection of restic is cached, because it starts a process. */
const inspectedMs = 600_000;

/** How long to wait for the store. */
const patienceMs = 2_000;

/**
 * Creates the backend entry of restic for ListBackends and the health service: unavailable when restic cannot run, degraded if
 * the last operation on the local repository failed because of the repository.
 */
export function createResticBackend({
  domain,
  kindStart,
  restic,
  operations,
  host,
  freshMs = 10_000,
}: ResticBackendOptions): Backend {
  let inspected: { readonly atMs: number; readonly found: ReturnType<ResticAdapter["inspect"]> } | undefined;
  async function inspect(): ReturnType<ResticAdapter["inspect"]> {
    if (inspected === undefined || performance.now() - inspected.atMs > inspectedMs) {
      inspected = { atMs: performance.now(), found: restic.inspect() };
    }
    const found = await inspected.found;
    if (found.findings.some(({ ok }) => !ok)) {
      // It may be fixed soon, so check again next time.
      inspected = undefined;
    }
    return found;
  }

  async function fetchStatus(): Promise<BackendStatus> {
    const { version, findings } = await inspect();
    const missing = findings.flatMap(({ ok, what, fix }) => (ok ? [] : [`${what}: ${fix ?? ""}`]));
    if (missing.length > 0) {
      return { health: "unavailable", version, missing, snapshotAgeMs: undefined };
    }
    const failure = await lastFailure();
    return failure === undefined
      ? { health: "ok", version, missing, snapshotAgeMs: undefined }
      : { health: "degraded", version, missing: [failure], snapshotAgeMs: undefined };
  }

  async function lastFailure(): Promise<string | undefined> {
    const filters = { kind: kindStart, states: ["completed", "failed", "needsAttention"] as const };
    const page = { belowSeq: undefined, limit: 100 };
    const answered = new AbortController();
    // If the store does not answer, its own backend entry reports that.
    const ended = await Promise.race([
      operations.list(filters, page).catch(() => undefined),
      sleep(patienceMs, undefined, { signal: answered.signal }).catch(() => undefined),
    ]);
    answered.abort();
    const last = ended?.operations.find((one) => one.host === host && isOnLocalRepository(one));
    return last?.failure !== undefined && isOfRepository(last.failure)
      ? `the last operation on the local repository, ${last.id}, failed: ${last.failure.message}`
      : undefined;
  }

  return {
    domain,
    name,
    kind: restic.kind,
    services,
    ...createPolledStatus(fetchStatus, freshMs),
  };
}

/**
 * Creates the backend entry of restic where backups are not configured.
 * @param configKey configuration key that would enable them, e.g. `volumes.backup`
 */
export function createAbsentResticBackend(domain: string, configKey: string): Backend {
  return createAbsentBackend(domain, name, "off", services, backupsOff(configKey).message);
}

/** Reports whether an operation used the local repository. The gateway knows S3 services only from requests. */
function isOnLocalRepository({ input }: Operation): boolean {
  const known = input as { readonly place?: { readonly kind?: unknown } } | null;
  return known?.place?.kind === "local";
}

function isOfRepository({ reason }: OperationFailure): boolean {
  return ofRepository.some(({ id }) => id === reason);
}
