import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { LogicalVolume, LvmState } from "../../../adapters/lvm/adapter.ts";
import {
  LVService as CurrentLVService,
  VGService as CurrentVGService,
} from "../../../gen/lvmd/current/lvmd_pb.ts";
import {
  GetFreeBytesResponseSchema,
  GetLVListResponseSchema,
  LVService,
  VGService,
  WatchResponseSchema,
} from "../../../gen/lvmd/served/lvmd_pb.ts";
import {
  LVService as PublishedLVService,
  VGService as PublishedVGService,
} from "../../../gen/proto/lvmd_pb.ts";
import { shownVolume } from "../../backups/lvm/operation-marks.ts";
import { askerFrom } from "../../rpc/asker.ts";
import type { Call, LvmdProtocol } from "../../rpc/call.ts";
import { registerService, type ServiceRegistration, type ShownServices } from "../../rpc/service-handlers.ts";
import { createSharedAnswers } from "../../rpc/shared-answers.ts";
import { createStateBroadcast } from "../../rpc/state-broadcast.ts";
import { assertBackups, backupStateMessage, wantedFromCreateBackup } from "./backups/backup-messages.ts";
import type { VolumeBackups } from "./backups/volume-backups.ts";
import {
  allocatableBytes,
  lessSpare,
  type ResolvedClass,
  reportedFreeBytes,
  volumesOf,
} from "./device-class.ts";
import { volumeMessage, watchMessage } from "./volume-messages.ts";
import { parseCreate, wantedFromRemove, wantedFromResize, wantedFromSnapshot } from "./volume-requests.ts";
import type { Volumes } from "./volumes.ts";

/** proto.LVService and proto.VGService as each lvmd protocol publishes them. */
export const shownLvServices: ShownServices = { backups: PublishedLVService, current: CurrentLVService };
export const shownVgServices: ShownServices = { backups: PublishedVGService, current: CurrentVGService };

/**
 * proto.LVService of both lvmd protocols: what changes volumes.
 * @param backups undefined where they are not configured
 */
export function createLvService(volumes: Volumes, backups: VolumeBackups | undefined): ServiceRegistration {
  return registerService(
    LVService,
    {
      async createLV(request, call) {
        const { wanted, source } = parseCreate(request, call.peer.lvmd);
        const made =
          source === undefined
            ? await volumes.create(wanted, call)
            : await assertBackups(backups).restoreVolume.create(wanted, source, askerFrom(call));
        return { volume: volumeMessage(made) };
      },
      async removeLV(request, call) {
        await volumes.remove(wantedFromRemove(request, call.peer.lvmd), call);
        return {};
      },
      async resizeLV(request, call) {
        return { sizeBytes: await volumes.resize(wantedFromResize(request, call.peer.lvmd), call) };
      },
      async createLVSnapshot(request, call) {
        const made = await volumes.createSnapshot(wantedFromSnapshot(request), call);
        return { snapshot: volumeMessage(made) };
      },
      async createBackup(request, call) {
        const wanted = wantedFromCreateBackup(request);
        const poll = await assertBackups(backups).createBackup.poll(wanted, askerFrom(call));
        return backupStateMessage(wanted.name, poll);
      },
    },
    shownLvServices,
  );
}

/** proto.VGService of both lvmd protocols: what tells of volumes. */
export function createVgService(volumes: Volumes): ServiceRegistration {
  const lists = createSharedAnswers(GetLVListResponseSchema);
  const freeBytes = createSharedAnswers(GetFreeBytesResponseSchema);
  const watched = createSharedAnswers(WatchResponseSchema);
  const broadcastOf = (lvmd: LvmdProtocol) =>
    createStateBroadcast({
      subscribe: volumes.subscribe,
      async read() {
        const { value } = await volumes.readState();
        return watched.of(value, lvmd, () => watchMessage(volumes.deviceClasses, value, lvmd));
      },
    });
  const broadcasts = { backups: broadcastOf("backups"), current: broadcastOf("current") };
  return registerService(
    VGService,
    {
      async getLVList({ deviceClass }, call) {
        const { resolved, snapshot } = await volumes.resolve(deviceClass, call.signal);
        tellAge(call, snapshot);
        const { lvmd } = call.peer;
        return lists.of(snapshot.value, `${lvmd} ${resolved.deviceClass.name}`, () => ({
          volumes: listedVolumes(resolved, snapshot.value, lvmd).map(shownVolume).map(volumeMessage),
        }));
      },
      async getFreeBytes({ deviceClass }, call) {
        const { resolved, snapshot } = await volumes.resolve(deviceClass, call.signal);
        tellAge(call, snapshot);
        const { lvmd } = call.peer;
        return freeBytes.of(snapshot.value, `${lvmd} ${resolved.deviceClass.name}`, () => ({
          freeBytes: freeBytesLessSpare(resolved, snapshot.value, lvmd),
        }));
      },
      watch: (_request, call) => broadcasts[call.peer.lvmd].watch(call),
    },
    shownVgServices,
  );
}

/** Today's protocol does not list the thin volumes of a group with its thick ones. */
function listedVolumes(resolved: ResolvedClass, state: LvmState, lvmd: LvmdProtocol): LogicalVolume[] {
  const volumes = volumesOf(resolved, state);
  return lvmd === "current" && resolved.pool === undefined
    ? volumes.filter(({ thinPoolName }) => thinPoolName === undefined)
    : volumes;
}

/** Today's protocol keeps the spare of a thin class back as well. */
function freeBytesLessSpare(resolved: ResolvedClass, state: LvmState, lvmd: LvmdProtocol): bigint {
  return lvmd === "current"
    ? lessSpare(resolved.deviceClass, allocatableBytes(resolved, state))
    : reportedFreeBytes(resolved, state);
}

function tellAge(call: Call, { readAtMs }: Snapshot<unknown>): void {
  call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - readAtMs)));
}
