import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { CreateLVRequest, RemoveLVRequest, ResizeLVRequest } from "../../../gen/proto/lvmd_pb.ts";
import type { WantedCreate, WantedRemove, WantedResize } from "./volume-changes.ts";

/** Field numbers of `size_bytes` in today's lvmd protocol, whose messages have the same names. */
const upstreamSizeBytes = { CreateLV: 6, ResizeLV: 7 } as const;

/** @throws InfraError NEWER_LVMD_PROTOCOL */
export function wantedFromCreate(request: CreateLVRequest): WantedCreate {
  assertThisProtocol(request, upstreamSizeBytes.CreateLV);
  const { name, sizeGb, tags, deviceClass } = request;
  return { name, sizeGb, tags, deviceClass };
}

/** @throws InfraError NEWER_LVMD_PROTOCOL */
export function wantedFromResize(request: ResizeLVRequest): WantedResize {
  assertThisProtocol(request, upstreamSizeBytes.ResizeLV);
  const { name, sizeGb, deviceClass } = request;
  return { name, sizeGb, deviceClass };
}

export function wantedFromRemove({ name, deviceClass }: RemoveLVRequest): WantedRemove {
  return { name, deviceClass };
}

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
