import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { createFileRegistry, type DescService, fromBinary, type Message } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";

const root = resolve(import.meta.dirname, "../..");
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

const eras: readonly { readonly name: string; readonly folder: string; readonly sizes: Sizes }[] = [
  { name: "backups", folder: "proto", sizes: "gib" },
  { name: "v0.22", folder: "test/proto-lvmd/eras/v0.22", sizes: "gib" },
  { name: "v0.30", folder: "test/proto-lvmd/eras/v0.30", sizes: "both" },
  { name: "v0.36.0", folder: "test/proto-lvmd/eras/v0.36.0", sizes: "both" },
  { name: "v0.36.5", folder: "test/proto-lvmd/eras/v0.36.5", sizes: "bytes" },
  { name: "today", folder: "proto-lvmd/current", sizes: "bytes" },
];

/** Reads every version of the lvmd protocol that has clients. */
export function readEras(): Promise<Era[]> {
  return Promise.all(eras.map(readEra));
}

async function readEra({ name, folder, sizes }: (typeof eras)[number]): Promise<Era> {
  const { stdout } = await promisify(execFile)(
    join(root, "node_modules/.bin/buf"),
    ["build", folder, "--as-file-descriptor-set", "-o", "-"],
    { cwd: root, encoding: "buffer", maxBuffer: 8 << 20 },
  );
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, new Uint8Array(stdout)));
  const serviceOf = (typeName: string) => {
    const service = registry.getService(typeName);
    if (service === undefined) {
      throw new Error(`${folder} has no ${typeName}`);
    }
    return service;
  };
  const services = { lv: serviceOf("proto.LVService"), vg: serviceOf("proto.VGService") };
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
