import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import {
  type CreateLVRequest,
  LVService,
  type ResizeLVRequest,
  VGService,
} from "../../../gen/proto/lvmd_pb.ts";
import type { Call } from "../../rpc/call.ts";
import { registerService, type ServiceRegistration } from "../../rpc/service-handlers.ts";
import { watchState } from "../../rpc/watch-state.ts";
import { reportedFreeBytes, volumesOf } from "./device-class.ts";
import { volumeMessage, watchMessage } from "./volume-messages.ts";
import type { Volumes } from "./volumes.ts";

/** proto.LVService: what changes volumes. */
export function createLvService(volumes: Volumes): ServiceRegistration {
  return registerService(LVService, {
    async createLV(request, call) {
      assertThisProtocol(request, upstreamSizeBytes.CreateLV);
      if (request.dataSource !== undefined) {
        throw new InfraError("NOT_BUILT", "data_source: restoring a volume is not served yet");
      }
      const { name, sizeGb, tags, deviceClass } = request;
      return { volume: volumeMessage(await volumes.create({ name, sizeGb, tags, deviceClass }, call)) };
    },
    async removeLV({ name, deviceClass }, call) {
      await volumes.remove({ name, deviceClass }, call);
      return {};
    },
    async resizeLV(request, call) {
      assertThisProtocol(request, upstreamSizeBytes.ResizeLV);
      const { name, sizeGb, deviceClass } = request;
      await volumes.resize({ name, sizeGb, deviceClass }, call);
      return {};
    },
    async createBackup() {
      throw new InfraError("NOT_BUILT", "backups are not served yet");
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

/** Field numbers of `size_bytes` in today's lvmd protocol, whose messages have the same names. */
const upstreamSizeBytes = { CreateLV: 6, ResizeLV: 7 } as const;

/**
 * Refuses a request of today's lvmd protocol, in which `size_gb` is gone: read as ours it would ask for size 0.
 * @throws InfraError NEWER_LVMD_PROTOCOL
 */
function assertThisProtocol(request: CreateLVRequest | ResizeLVRequest, sizeBytesField: number): void {
  if (request.sizeGb === 0n && request.$unknown?.some(({ no }) => no === sizeBytesField) === true) {
    throw new InfraError(
      "NEWER_LVMD_PROTOCOL",
      `the request gives size_bytes (field ${sizeBytesField}) as today's lvmd does; this gateway reads size_gb (field 2)`,
    );
  }
}

function tellAge(call: Call, { readAtMs }: Snapshot<unknown>): void {
  call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - readAtMs)));
}
