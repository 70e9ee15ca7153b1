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
 * Refuses a request that carries `size_bytes` of today's lvmd protocol. Clients from TopoLVM 0.23 to 0.36.4 send `size_gb`
 * as well, rounded down: a volume of that size would be smaller than the requested one.
 * @throws InfraError NEWER_LVMD_PROTOCOL
 */
function assertThisProtocol(request: CreateLVRequest | ResizeLVRequest, sizeBytesField: number): void {
  if (request.$unknown?.some(({ no }) => no === sizeBytesField) === true) {
    throw new InfraError(
      "NEWER_LVMD_PROTOCOL",
      `the request carries size_bytes (field ${sizeBytesField}) of today's lvmd protocol, but this gateway reads only size_gb (field 2), which such a client leaves out or rounds down; send size_gb alone`,
    );
  }
}
