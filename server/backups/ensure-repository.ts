import { setTimeout as sleep } from "node:timers/promises";
import { hasReason, InfraError } from "../../adapters/host/infra-error.ts";
import type { Repository, ResticAdapter } from "../../adapters/restic/adapter.ts";
import { resticReasons } from "../../adapters/restic/reasons.ts";
import type { Store } from "../store/store.ts";
import { repositoryGone } from "./repository-gone.ts";
import { describePlace, type RepositoryPlace } from "./repository-place.ts";
import { operationTagOf } from "./stored-backup.ts";

/** Longer than the tool takes to create a repository, or to give up. */
const leaseMs = 300_000;
/** How long to wait for a creation by another operation, which takes several seconds. */
const patienceMs = 60_000;
const pollEveryMs = 250;

/**
 * Creates the repository of a backup unless it exists. The gateways that share the store create one at a time. They
 * create none where backups are already recorded, because the place would be a mount point without its file system.
 * @param owner ID of the operation
 * @throws InfraError REPOSITORY_NOT_FOUND when backups are recorded at the place; REPOSITORY_LOCKED when another operation
 * has been creating it for a minute; and the errors of the tool
 */
export async function ensureRepository(
  { restic, store }: { readonly restic: ResticAdapter; readonly store: Pick<Store, "run"> },
  repository: Repository,
  facts: { readonly place: RepositoryPlace; readonly host: string; readonly owner: string },
  signal: AbortSignal,
): Promise<void> {
  const { place, host, owner } = facts;
  // Before the repository is read: a gateway that creates it meanwhile also records backups.
  const { areAny } = await store.run("backups.areAt", {
    repositories: writtenAs(place),
    // A directory of another host is a different one.
    ...(place.kind === "local" ? { host } : {}),
  });
  if (await isThere()) {
    return;
  }
  const claim = { repository: describePlace(place), owner };
  const untilMs = performance.now() + patienceMs;
  while (!(await store.run("repositoryMakings.claim", { ...claim, leaseMs })).ok) {
    if (performance.now() > untilMs) {
      throw new InfraError(
        resticReasons.REPOSITORY_LOCKED,
        `${claim.repository} is being created by another operation`,
      );
    }
    await sleep(pollEveryMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  try {
    await restic.ensureRepository(repository, signal);
  } finally {
    await store.run("repositoryMakings.release", claim);
  }

  async function isThere(): Promise<boolean> {
    try {
      await restic.list(repository, [operationTagOf(owner)], signal);
      return true;
    } catch (error) {
      if (!hasReason(error, resticReasons.REPOSITORY_NOT_FOUND)) {
        throw error;
      }
      if (areAny) {
        throw repositoryGone(place);
      }
      return false;
    }
  }
}

/** Returns the forms of the place in backup rows: TLS verification does not make it a different repository. */
function writtenAs(place: RepositoryPlace): string[] {
  const places =
    place.kind === "local"
      ? [place]
      : [true, false].map((isTlsUnverified) => ({ ...place, isTlsUnverified }));
  return places.map((one) => JSON.stringify(one));
}
