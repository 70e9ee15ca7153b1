import { create } from "@bufbuild/protobuf";
import { oncePerObject } from "../../../adapters/host/once-per-object.ts";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { LogicalVolume, LvmState } from "../../../adapters/lvm/adapter.ts";
import {
  GetFreeBytesResponseSchema,
  GetLVListResponseSchema,
  LogicalVolumeSchema,
  LVService,
  VGService,
  WatchResponseSchema,
} from "../../../gen/lvmd/served/lvmd_pb.ts";
import { handlersOf } from "../../domain/change.ts";
import { shownVolume } from "../../lvm/operation-marks.ts";
import type { Call, LvmdProtocol } from "../../rpc/call/call.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { createSharedAnswers } from "../../rpc/streams/shared-answers.ts";
import { createListEncoders } from "../../rpc/streams/shared-lists.ts";
import { createStateBroadcast } from "../../rpc/streams/state-broadcast.ts";
import type { LvChanges } from "./changes/lv-changes.ts";
import {
  creatableBytes,
  lessSpare,
  type ResolvedClass,
  reportedFreeBytes,
  volumesOf,
} from "./device-class.ts";
import { shownLvServices, shownVgServices } from "./shown-services.ts";
import { volumeMessage, watchMessage } from "./volume-messages.ts";
import type { Volumes } from "./volumes.ts";

/** Creates proto.LVService of both lvmd protocols, which changes volumes. */
export function createLvService(changes: LvChanges): ServiceRegistration {
  return registerService(LVService, handlersOf(changes), shownLvServices);
}

/** Creates proto.VGService of both lvmd protocols, which lists volumes and reports free space. */
export function createVgService(volumes: Volumes): ServiceRegistration {
  const lists = createSharedAnswers(GetLVListResponseSchema, createListEncoders(GetLVListResponseSchema));
  const messageOf = oncePerObject((volume: LogicalVolume) =>
    create(LogicalVolumeSchema, volumeMessage(shownVolume(volume))),
  );
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
        setSnapshotAge(call, snapshot);
        const { lvmd } = call.peer;
        return lists.of(snapshot.value, `${lvmd} ${resolved.deviceClass.name}`, () => ({
          volumes: listedVolumes(resolved, snapshot.value, lvmd).map(messageOf),
        }));
      },
      async getFreeBytes({ deviceClass }, call) {
        const { resolved, snapshot } = await volumes.resolve(deviceClass, call.signal);
        setSnapshotAge(call, snapshot);
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

/** Returns the volumes that GetLVList reports. The current protocol does not list thin volumes with a group's thick ones. */
function listedVolumes(resolved: ResolvedClass, state: LvmState, lvmd: LvmdProtocol): LogicalVolume[] {
  const volumes = volumesOf(resolved, state);
  return lvmd === "current" && resolved.pool === undefined
    ? volumes.filter(({ thinPoolName }) => thinPoolName === undefined)
    : volumes;
}

/** Returns the bytes that GetFreeBytes reports. The current protocol subtracts the spare of a thin class as well. */
function freeBytesLessSpare(resolved: ResolvedClass, state: LvmState, lvmd: LvmdProtocol): bigint {
  return lvmd === "current"
    ? lessSpare(resolved.deviceClass, creatableBytes(resolved, state))
    : reportedFreeBytes(resolved, state);
}

/** Reports the age of the state that a response is from. */
export function setSnapshotAge(call: Call, { readAtMs }: Snapshot<unknown>): void {
  call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - readAtMs)));
}
