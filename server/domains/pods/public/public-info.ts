import { create } from "@bufbuild/protobuf";
import type { RuntimeInfo } from "../../../../adapters/podman/adapter.ts";
import { type Info, InfoSchema } from "../../../../gen/v1alpha/api_pb.ts";

/** The last version of the App Container specification that rkt followed, and the only version of rkt's API. */
const appcVersion = "0.8.11";
const apiVersion = "1.0.0-alpha";

/**
 * Converts information about the runtime to the format of v1alpha.PublicAPI, for a runtime other than rkt whose security
 * features cannot be turned off.
 */
export function publicInfo({ version, storeDirectory, configDirectory }: RuntimeInfo): Info {
  return create(InfoSchema, {
    rktVersion: semanticVersionFrom(version),
    appcVersion,
    apiVersion,
    globalFlags: { dir: storeDirectory, systemConfigDir: configDirectory, insecureFlags: "none" },
  });
}

const semantic = /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

/** Converts a version to Semantic Versioning 2.0.0: unchanged if it is valid, otherwise its leading numbers, up to three. */
export function semanticVersionFrom(version: string): string {
  const bare = version.replace(/^v/, "");
  if (semantic.test(bare)) {
    return bare;
  }
  const numbers = /^\d+(?:\.\d+){0,2}/.exec(bare)?.[0].split(".").map(Number) ?? [];
  const [major = 0, minor = 0, patch = 0] = numbers;
  return `${major}.${minor}.${patch}`;
}
