import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import {
  GetFreeBytesResponseSchema,
  GetLVListResponseSchema,
  LVService,
  VGService,
  WatchResponseSchema,
} from "../../../gen/proto/lvmd_pb.ts";
import { shownVolume } from "../../backups/lvm/operation-marks.ts";
import { askerFrom } from "../../rpc/asker.ts";
import type { Call } from "../../rpc/call.ts";
import { registerService, type ServiceRegistration } from "../../rpc/service-handlers.ts";
import { createSharedAnswers } from "../../rpc/shared-answers.ts";
import { watchState } from "../../rpc/watch-state.ts";
import {
  assertBackups,
  backupStateMessage,
  sourceFromCreate,
  wantedFromCreateBackup,
} from "./backups/backup-messages.ts";
import type { VolumeBackups } from "./backups/volume-backups.ts";
import { reportedFreeBytes, volumesOf } from "./device-class.ts";
import { volumeMessage, watchMessage } from "./volume-messages.ts";
import { wantedFromCreate, wantedFromRemove, wantedFromResize } from "./volume-requests.ts";
import type { Volumes } from "./volumes.ts";

/**
 * proto.LVService: what changes volumes.
 * @param backups undefined where they are not configured
 */
export function createLvService(volumes: Volumes, backups: VolumeBackups | undefined): ServiceRegistration {
  return registerService(LVService, {
    async createLV(request, call) {
      const wanted = wantedFromCreate(request);
      const source = sourceFromCreate(request);
      const made =
        source === undefined
          ? await volumes.create(wanted, call)
          : await assertBackups(backups).restoreVolume.create(wanted, source, askerFrom(call));
      return { volume: volumeMessage(made) };
    },
    async removeLV(request, call) {
      await volumes.remove(wantedFromRemove(request), call);
      return {};
    },
    async resizeLV(request, call) {
      await volumes.resize(wantedFromResize(request), call);
      return {};
    },
    async createBackup(request, call) {
      const wanted = wantedFromCreateBackup(request);
      const poll = await assertBackups(backups).createBackup.poll(wanted, askerFrom(call));
      return backupStateMessage(wanted.name, poll);
    },
  });
}

/** proto.VGService: what tells of volumes. */
export function createVgService(volumes: Volumes): ServiceRegistration {
  const lists = createSharedAnswers(GetLVListResponseSchema);
  const freeBytes = createSharedAnswers(GetFreeBytesResponseSchema);
  const watched = createSharedAnswers(WatchResponseSchema);
  return registerService(VGService, {
    async getLVList({ deviceClass }, call) {
      const { resolved, snapshot } = await volumes.resolve(deviceClass, call.signal);
      tellAge(call, snapshot);
      return lists.of(snapshot.value, resolved.deviceClass.name, () => ({
        volumes: volumesOf(resolved, snapshot.value).map(shownVolume).map(volumeMessage),
      }));
    },
    async getFreeBytes({ deviceClass }, call) {
      const { resolved, snapshot } = await volumes.resolve(deviceClass, call.signal);
      tellAge(call, snapshot);
      return freeBytes.of(snapshot.value, resolved.deviceClass.name, () => ({
        freeBytes: reportedFreeBytes(resolved, snapshot.value),
      }));
    },
    async *watch(_request, call) {
      const read = () => volumes.readState(call.signal);
      const states = watchState(volumes.subscribe, read, call.signal);
      for await (const { value } of states) {
        yield watched.of(value, "", () => watchMessage(volumes.deviceClasses, value));
      }
    },
  });
}

function tellAge(call: Call, { readAtMs }: Snapshot<unknown>): void {
  call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - readAtMs)));
}
