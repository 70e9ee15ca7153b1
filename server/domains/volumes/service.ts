import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import type { Call } from "../../rpc/call.ts";
import { registerService, type ServiceRegistration } from "../../rpc/service-handlers.ts";
import { watchState } from "../../rpc/watch-state.ts";
import { reportedFreeBytes, volumesOf } from "./device-class.ts";
import { volumeMessage, watchMessage } from "./volume-messages.ts";
import { backupsNotBuilt, wantedFromCreate, wantedFromRemove, wantedFromResize } from "./volume-requests.ts";
import type { Volumes } from "./volumes.ts";

/** proto.LVService: what changes volumes. */
export function createLvService(volumes: Volumes): ServiceRegistration {
  return registerService(LVService, {
    async createLV(request, call) {
      return { volume: volumeMessage(await volumes.create(wantedFromCreate(request), call)) };
    },
    async removeLV(request, call) {
      await volumes.remove(wantedFromRemove(request), call);
      return {};
    },
    async resizeLV(request, call) {
      await volumes.resize(wantedFromResize(request), call);
      return {};
    },
    async createBackup() {
      throw backupsNotBuilt();
    },
  });
}

/** proto.VGService: what tells of volumes. */
export function createVgService(volumes: Volumes): ServiceRegistration {
  return registerService(VGService, {
    async getLVList({ deviceClass }, call) {
      const { resolved, snapshot } = await volumes.resolve(deviceClass, call.signal);
      tellAge(call, snapshot);
      return { volumes: volumesOf(resolved, snapshot.value).map(volumeMessage) };
    },
    async getFreeBytes({ deviceClass }, call) {
      const { resolved, snapshot } = await volumes.resolve(deviceClass, call.signal);
      tellAge(call, snapshot);
      return { freeBytes: reportedFreeBytes(resolved, snapshot.value) };
    },
    async *watch(_request, call) {
      const read = () => volumes.readState(call.signal);
      const states = watchState(volumes.subscribe, read, call.signal);
      for await (const { value } of states) {
        yield watchMessage(volumes.deviceClasses, value);
      }
    },
  });
}

function tellAge(call: Call, { readAtMs }: Snapshot<unknown>): void {
  call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - readAtMs)));
}
