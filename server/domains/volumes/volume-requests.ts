import { fromBinary } from "@bufbuild/protobuf";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import {
  type CreateLVRequest,
  type CreateLVSnapshotRequest,
  type DataSource,
  DataSourceSchema,
  type RemoveLVRequest,
  type ResizeLVRequest,
} from "../../../gen/lvmd/served/lvmd_pb.ts";
import type { LvmdProtocol } from "../../rpc/call/call.ts";
import type { RestoreSource } from "./backups/restore-volume.ts";
import { bytesPerGiB, sizeGbFromBytes, type WantedSize } from "./size.ts";
import type { WantedCreate, WantedRemove, WantedResize, WantedSnapshot } from "./volume-changes.ts";

/** A parsed CreateLV request. */
export interface CreateRequest {
  readonly wanted: WantedCreate;
  /** Backup to fill the volume from; undefined for an empty volume. */
  readonly source: RestoreSource | undefined;
}

/**
 * Parses a CreateLV request of either lvmd protocol. A request with `size_bytes` belongs to the current protocol.
 * @throws InfraError INVALID_FIELD for fields that contradict each other
 */
export function parseCreate(request: CreateLVRequest, protocol: LvmdProtocol): CreateRequest {
  const { name, tags, deviceClass, sizeBytes } = request;
  const isCurrent = protocol === "current" || sizeBytes !== undefined;
  const { dataSource, optionClass } = sourceOrOptionClass(request, isCurrent);
  if (dataSource !== undefined && sizeBytes !== undefined) {
    throw contradiction(
      "data_source",
      "size_bytes",
      "the size of a volume that is filled from a backup is size_gb",
    );
  }
  if (dataSource !== undefined && optionClass !== "") {
    throw contradiction("data_source", "lvcreate_option_class", "they belong to different lvmd protocols");
  }
  return {
    wanted: {
      name,
      tags,
      deviceClass,
      size: sizeFrom(request),
      ...(optionClass === "" ? {} : { optionClass }),
    },
    source: dataSource && { isSynchronous: dataSource.synchronousRestore, s3: dataSource.type.value },
  };
}

/** @throws InfraError INVALID_FIELD for sizes that contradict each other */
export function wantedFromResize(request: ResizeLVRequest, protocol: LvmdProtocol): WantedResize {
  const { name, deviceClass } = request;
  return { name, deviceClass, size: sizeFrom(request), skipsShrinking: protocol === "current" };
}

export function wantedFromRemove(
  { name, deviceClass }: RemoveLVRequest,
  protocol: LvmdProtocol,
): WantedRemove {
  return { name, deviceClass, mustExist: protocol === "current" };
}

/** @throws InfraError INVALID_FIELD */
export function wantedFromSnapshot(request: CreateLVSnapshotRequest): WantedSnapshot {
  const { name, tags, deviceClass, sourceVolume, accessType } = request;
  if (accessType !== "ro" && accessType !== "rw") {
    throw invalidField("access_type", "must be ro or rw");
  }
  const isAsSource = request.sizeGb === 0n && (request.sizeBytes ?? 0n) === 0n;
  return {
    name,
    tags,
    deviceClass,
    sourceName: sourceVolume,
    size: isAsSource ? undefined : sizeFrom(request),
    readOnly: accessType === "ro",
  };
}

/**
 * Returns the data source and the option class of a request. In binary requests field 5 is the option class in the current
 * protocol, and the data source in the branch with backups; JSON has a separate name for each.
 * @throws InfraError INVALID_FIELD
 */
function sourceOrOptionClass(
  request: CreateLVRequest,
  isCurrent: boolean,
): { readonly dataSource: DataSource | undefined; readonly optionClass: string } {
  const { dataSource, lvcreateOptionClass: optionClass, sourceOrOptionClass: parts } = request;
  const last = parts.at(-1);
  if (last === undefined) {
    return { dataSource, optionClass };
  }
  return isCurrent
    ? { dataSource, optionClass: optionClassFrom(last) }
    : { dataSource: dataSourceFrom(Buffer.concat(parts)), optionClass };
}

function optionClassFrom(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidField("lvcreate_option_class", "must be UTF-8");
  }
}

function dataSourceFrom(bytes: Uint8Array): DataSource {
  try {
    return fromBinary(DataSourceSchema, new Uint8Array(bytes));
  } catch {
    throw invalidField(
      "data_source",
      "field 5 is not a DataSource; it is lvcreate_option_class only in a request with size_bytes (field 6), or on a listener with lvmd: current",
    );
  }
}

/**
 * Returns the size of a request that has `size_gb`, `size_bytes`, or both. Clients from TopoLVM 0.23 to 0.36.4 send both,
 * with `size_gb` rounded down.
 * @throws InfraError INVALID_FIELD when the two contradict each other
 */
function sizeFrom({
  sizeGb,
  sizeBytes,
}: {
  readonly sizeGb: bigint;
  readonly sizeBytes?: bigint | undefined;
}): WantedSize {
  if (sizeBytes === undefined) {
    return { gib: sizeGb };
  }
  const isRounded =
    sizeGb === 0n || sizeGb === sizeBytes / bytesPerGiB || sizeGb === sizeGbFromBytes(sizeBytes);
  if (!isRounded) {
    throw contradiction(
      "size_gb",
      "size_bytes",
      `${sizeGb} GiB is not ${sizeBytes} bytes, rounded up or down`,
    );
  }
  return { bytes: sizeBytes };
}

function contradiction(field: string, other: string, why: string) {
  return invalidField(field, `contradicts ${other}: ${why}`);
}
