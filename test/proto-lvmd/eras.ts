import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createFileRegistry, type DescService, fromBinary, type Message } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import * as today from "../../gen/lvmd/current/lvmd_pb.ts";
import * as backups from "../../gen/proto/lvmd_pb.ts";

const bytesPerGiB = 1n << 30n;

/** How the clients of an era specify sizes. */
type Sizes = "gib" | "both" | "bytes";

/** A request or response of an era. Its fields have no static types. */
type Fields = Message & Record<string, unknown>;

type Method = (request: Record<string, unknown>) => Promise<Fields>;

/** The RPCs of an era that a client calls. */
export interface EraClient {
  readonly createLV: Method;
  readonly removeLV: Method;
  readonly resizeLV: Method;
  readonly createLVSnapshot: Method;
  readonly getLVList: Method;
  readonly getFreeBytes: Method;
}

/** A version of the lvmd protocol, with a client generated from it. */
export interface Era {
  readonly name: string;
  readonly sizes: Sizes;
  readonly services: Readonly<Record<"lv" | "vg", DescService>>;
  /** Returns the fields of a request for `bytes`, and the size that they request: whole GiB in some eras. */
  request(bytes: bigint): { readonly fields: Record<string, unknown>; readonly bytes: bigint };
  client(transport: Transport): EraClient;
}

/** Reads every version of the lvmd protocol that has clients. */
export async function readEras(): Promise<Era[]> {
  return [
    eraOf("backups", "gib", { lv: backups.LVService, vg: backups.VGService }),
    eraOf("v0.22", "gib", await readServices("v0.22")),
    eraOf("v0.30", "both", await readServices("v0.30")),
    eraOf("v0.36.0", "both", await readServices("v0.36.0")),
    eraOf("v0.36.5", "bytes", await readServices("v0.36.5")),
    eraOf("today", "bytes", { lv: today.LVService, vg: today.VGService }),
  ];
}

/** Reads the services of a version from the descriptor set that `npm run gen` writes beside its proto file. */
async function readServices(version: string): Promise<Era["services"]> {
  const bytes = await readFile(join(import.meta.dirname, "eras", version, "lvmd.binpb"));
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  const serviceOf = (typeName: string) => {
    const service = registry.getService(typeName);
    if (service === undefined) {
      throw new Error(`${version} has no ${typeName}`);
    }
    return service;
  };
  return { lv: serviceOf("proto.LVService"), vg: serviceOf("proto.VGService") };
}

function eraOf(name: string, sizes: Sizes, services: Era["services"]): Era {
  return {
    name,
    sizes,
    services,
    request(bytes) {
      const gib = (bytes + bytesPerGiB - 1n) / bytesPerGiB;
      switch (sizes) {
        case "gib":
          return { fields: { sizeGb: gib }, bytes: gib * bytesPerGiB };
        case "both":
          return { fields: { sizeGb: bytes / bytesPerGiB, sizeBytes: bytes }, bytes };
        case "bytes":
          return { fields: { sizeBytes: bytes }, bytes };
      }
    },
    client: (transport) =>
      ({ ...createClient(services.lv, transport), ...createClient(services.vg, transport) }) as never,
  };
}
