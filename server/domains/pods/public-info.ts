import { create } from "@bufbuild/protobuf";
import type { RuntimeInfo } from "../../../adapters/podman/adapter.ts";
import { type Info, InfoSchema } from "../../../gen/v1alpha/api_pb.ts";

/** The last App Container specification, which rkt followed when it ended, and the only version of its API. */
const appcVersion = "0.8.11";
const apiVersion = "1.0.0-alpha";

/** The runtime as v1alpha.PublicAPI tells it: for a runtime that is not rkt, with settings that nothing turns off. */
export function publicInfo({ version, storeDirectory, configDirectory }: RuntimeInfo): Info {
  return create(InfoSchema, {
    rktVersion: semanticVersionFrom(version),
    appcVersion,
    apiVersion,
    globalFlags: { dir: storeDirectory, systemConfigDir: configDirectory, insecureFlags: "none" },
  });
}

const semantic = /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

/**
 * A version as Semantic Versioning 2.0.0 has it: as it is if it is one, else the numbers that it begins with, up to three.
 */
export function semanticVersionFrom(version: string): string {
  const bare = version.replace(/^v/, "");
  if (semantic.test(bare)) {
    return bare;
  }
  const numbers = /^\d+(?:\.\d+){0,2}/.exec(bare)?.[0].split(".").map(Number) ?? [];
  const [major = 0, minor = 0, patch = 0] = numbers;
  return `${major}.${minor}.${patch}`;
}
