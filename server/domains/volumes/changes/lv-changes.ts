import type { LVService } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import type { ServiceChanges } from "../../../domain/change.ts";
import { assertBackups, backupStateMessage, specFromCreateBackup } from "../backups/backup-messages.ts";
import type { VolumeBackups } from "../backups/volume-backups.ts";
import { volumeMessage } from "../volume-messages.ts";
import { parseCreateRequest } from "./create-request.ts";
import type { VolumeChanges } from "./volume-changes.ts";

/** The changes of proto.LVService, which are all its methods. */
export type LvChanges = Required<ServiceChanges<typeof LVService>>;

/**
 * Creates the changes of proto.LVService of both lvmd protocols.
 * @param backups undefined when backups are not configured
 */
export function createLvChanges(changes: VolumeChanges, backups: VolumeBackups | undefined): LvChanges {
  return {
    createLV: {
      async plan(request, requester) {
        const { volume, source } = parseCreateRequest(request, requester.peer.lvmd);
        return source === undefined
          ? changes.create.plan(volume, requester)
          : assertBackups(backups).restore.plan({ volume, source }, requester);
      },
      async run(request, call) {
        const { volume, source } = parseCreateRequest(request, call.peer.lvmd);
        const created =
          source === undefined
            ? await changes.create.run(volume, call)
            : await assertBackups(backups).restore.run({ volume, source }, call);
        return { volume: volumeMessage(created) };
      },
    },
    removeLV: {
      plan: changes.remove.plan,
      async run(request, call) {
        await changes.remove.run(request, call);
        return {};
      },
    },
    resizeLV: {
      plan: changes.resize.plan,
      run: async (request, call) => ({ sizeBytes: await changes.resize.run(request, call) }),
    },
    createLVSnapshot: {
      plan: changes.snapshot.plan,
      run: async (request, call) => ({ snapshot: volumeMessage(await changes.snapshot.run(request, call)) }),
    },
    createBackup: {
      plan: async (request, requester) =>
        assertBackups(backups).createBackup.plan(specFromCreateBackup(request), requester),
      async run(request, call) {
        const backup = specFromCreateBackup(request);
        const poll = await assertBackups(backups).createBackup.poll(backup, call);
        return backupStateMessage(backup.name, poll);
      },
    },
  };
}
