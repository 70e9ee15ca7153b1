import { fromBinary } from "@bufbuild/protobuf";
import { invalidField } from "../../../../adapters/host/infra-error.ts";
import {
  type CreateLVRequest,
  type DataSource,
  DataSourceSchema,
} from "../../../../gen/lvmd/served/lvmd_pb.ts";
import type { LvmdProtocol } from "../../../rpc/call/call.ts";
import type { RestoreSource } from "../backups/restore-volume.ts";
import type { NewVolume } from "./create-volume.ts";
import { contradiction, requestedSizeFrom } from "./requested-size.ts";

/** A parsed CreateLV request. */
export interface CreateRequest {
  readonly volume: NewVolume;
  /** Backup to fill the volume from; undefined for an empty volume. */
  readonly source: RestoreSource | undefined;
}

/**
 * Parses a CreateLV request of either lvmd protocol. A request with `size_bytes` belongs to the current protocol.
 * @throws InfraError INVALID_FIELD for fields that contradict each other
 */
export function parseCreateRequest(request: CreateLVRequest, protocol: LvmdProtocol): CreateRequest {
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
    volume: {
      name,
      tags,
      deviceClass,
      size: requestedSizeFrom(request),
      ...(optionClass === "" ? {} : { optionClass }),
    },
    source: dataSource && { isSynchronous: dataSource.synchronousRestore, s3: dataSource.type.value },
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
