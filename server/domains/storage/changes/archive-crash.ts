import type { CephAdapter, CephCrash } from "../../../../adapters/ceph/adapter.ts";
import { cephResource } from "../../../../adapters/ceph/names.ts";
import { cephReasons } from "../../../../adapters/ceph/reasons.ts";
import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type { StorageService } from "../../../../gen/hostplane/v1/storage_pb.ts";
import type { ChangesOf } from "../../../domain/change.ts";
import type { InlineRunner } from "../../../operations/engine/run-inline.ts";
import type { Mutation } from "../../../operations/mutation.ts";
import { factsOf } from "../../../operations/plan-facts.ts";
import { crashMessage, crashSentence } from "../ceph/crashes.ts";
import { requirePart } from "../figures/figure-notes.ts";

/** The changes of hostplane.v1.StorageService. */
export type StorageChanges = ChangesOf<typeof StorageService, "archiveCrash">;

export interface ArchiveCrashOptions {
  readonly ceph: CephAdapter;
  readonly runner: InlineRunner;
}

/** storage.archiveCrash: archives a crash, so that Ceph no longer warns of it. */
export function createArchiveCrash({ ceph, runner }: ArchiveCrashOptions): StorageChanges["archiveCrash"] {
  async function findCrash(id: string, signal: AbortSignal): Promise<CephCrash | undefined> {
    const { value } = await ceph.read(signal);
    return requirePart("crashes", value.crashes).find((crash) => crash.id === id);
  }

  async function check(id: string, signal: AbortSignal): Promise<Mutation> {
    ceph.assertOperator();
    const { fsid } = (await ceph.read(signal)).value;
    const crash = await findCrash(id, signal);
    const what = crash === undefined ? `the crash ${id}` : crashSentence(crash);
    return {
      kind: "storage.archiveCrash",
      resource: cephResource(fsid, "crashes", id),
      backend: fsid,
      plan: {
        changes: [
          crash?.isArchived === true
            ? `nothing, since the crash is already archived: ${what}`
            : `Ceph archives the crash and no longer warns about it: ${what}`,
        ],
        losses: [],
        facts: factsOf(cephResource(fsid, "crashes", id), { isArchived: crash?.isArchived === true }),
      },
      steps: [
        { name: "archive", command: ["ceph", "crash", "archive", id], forward: () => ceph.archiveCrash(id) },
      ],
      pointOfNoReturn: 0,
    };
  }

  return {
    async run({ id }, call) {
      assertId(id);
      call.noteResource(`crashes/${id}`);
      let before: CephCrash | undefined;
      const checkNow = async () => {
        before = await findCrash(id, call.signal);
        const mutation = await check(id, call.signal);
        call.appliedPlan?.assertSame(mutation);
        return mutation;
      };
      const { resource } = await runner.run(`crashes/${id}`, checkNow, call.signal);
      call.noteResource(resource);
      // The crash is archived; a failure to read the crashes now must not fail the call.
      const crash = await findCrash(id, call.signal).catch((error: unknown) => {
        if (before === undefined) {
          throw error;
        }
        return { ...before, isArchived: true };
      });
      if (crash === undefined) {
        throw crashNotFound(id);
      }
      return { crash: crashMessage(crash) };
    },
    async plan({ id }, { signal }) {
      assertId(id);
      const mutation = await check(id, signal);
      if ((await findCrash(id, signal)) === undefined) {
        throw crashNotFound(id);
      }
      return mutation;
    },
  };
}

/**
 * Validates an id such as `2026-11-21T14:00:00.123456Z_UUID`, which becomes an argument of a command and part of a
 * resource name.
 */
function assertId(id: string): void {
  if (!/^[\w:.][\w:.-]{0,127}$/.test(id)) {
    throw invalidField(
      "id",
      "must be the ID of a crash, as returned by ListCrashes: 1 to 128 letters, digits and -:._",
    );
  }
}

function crashNotFound(id: string): InfraError {
  return new InfraError(cephReasons.CRASH_NOT_FOUND, `crash not found: ${id}`, { resource: `crashes/${id}` });
}
