import { createHash } from "node:crypto";
import { volumeResource } from "../../../../../adapters/lvm/names.ts";
import type { CreateVolumeRequest } from "../../../../../gen/csi/v1/csi_pb.ts";
import type { Change } from "../../../../domain/change.ts";
import type { PlanRequester } from "../../../../operations/planner.ts";
import type { ThickClones } from "../../long-changes/thick-clones.ts";
import { findByName } from "../csi-volume.ts";
import { createCreateCsiVolume } from "./create-csi-volume.ts";
import { type CopyParts, copyFailed, findOpenCopy, untilCopyEnds } from "./csi-copies.ts";
import { assertCompatible, cloneSpecOf, placeOf } from "./requested-volume.ts";

type Copy = Parameters<ThickClones["begin"]>[0];

/**
 * CreateVolume, with clones of thick volumes and snapshots: an operation copies them, which the call waits for. A repeated call
 * joins it. If the caller leaves, it continues.
 * @param create creates all other volumes, and completes those that exist
 * @param respond builds the response for the resource of a volume with a name in CSI
 */
export function createCopyCsiVolume<Response>(
  parts: CopyParts,
  create: Change<CreateVolumeRequest, Promise<Response>>,
  respond: (name: string, resource: string) => Promise<Response>,
): Change<CreateVolumeRequest, Promise<Response>> {
  const { lvm, deviceClasses, thickClones } = parts;
  const creation = createCreateCsiVolume(parts);

  /** Returns the copy that a request needs; undefined if it needs none. @throws InfraError as CreateVolume */
  async function copyFor(
    request: CreateVolumeRequest,
    { signal, operation }: Pick<PlanRequester, "signal" | "operation">,
  ): Promise<Copy | undefined> {
    const parsed = creation.parse(request);
    if (parsed.source === undefined) {
      return undefined;
    }
    const spec = creation.locate(parsed, (await lvm.refresh(signal)).value);
    const { name, deviceClass } = placeOf(parts, spec);
    if (deviceClass.thinPool !== undefined) {
      return undefined;
    }
    const open = await findOpenCopy(parts, volumeResource(deviceClass.volumeGroup, name), operation?.id);
    if (open !== undefined) {
      assertCompatible(spec, open);
      return { joins: open.operation };
    }
    // Read again: an operation that has just ended is no longer open, and its volume was not in the first state.
    const { value: state } = await lvm.refresh(signal);
    if (findByName(state, deviceClasses, "volume", spec.name) !== undefined) {
      return undefined;
    }
    const clone = cloneSpecOf(parts, spec, parsed.source, state);
    return {
      spec: clone,
      attachKey: attachKeyOf([parts.host, deviceClass.volumeGroup, name, ...clone.tags]),
    };
  }

  return {
    async plan(request, requester) {
      const copy = await copyFor(request, requester);
      return copy === undefined ? create.plan(request, requester) : thickClones.plan(copy, requester);
    },
    async run(request, call) {
      const copy = await copyFor(request, call);
      if (copy === undefined) {
        return create.run(request, call);
      }
      const { operation } = await thickClones.begin(copy, call);
      const ended = await untilCopyEnds(parts, operation, call);
      if (ended.state !== "completed") {
        throw copyFailed(ended);
      }
      return respond(request.name, ended.resource);
    },
  };
}

/** Returns a key that is the same for equal requests. */
function attachKeyOf(parts: readonly string[]): string {
  return `csi ${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}
