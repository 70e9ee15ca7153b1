import { join } from "node:path";
import type { Bench } from "../bench.ts";
import { grpcFrame } from "../load/grpc-call.ts";
import { h2loadSkipReason } from "../load/h2load.ts";
import { type LoadedSides, requestsPerCpuSecond, startLoadedRun } from "../load/loaded-run.ts";
import { volumeCount, volumeNameLength } from "./volumes-under-bench.ts";

const path = "/proto.VGService/GetLVList";
const fileOf = (name: string) => join(import.meta.dirname, name);

/** Lists all volumes over gRPC: from a gateway's snapshot, and from a prepared message. */
export function createGrpcVolumeList(requests = 2_000): Bench {
  const load = {
    protocol: "h2c",
    path,
    contentType: "application/grpc+proto",
    connections: 10,
    streams: 10,
  } as const;
  return createVolumeList("grpc-volume-list", "gRPC", {
    baseline: { file: fileOf("http2-server.ts"), load },
    ours: { file: fileOf("gateway-server.ts"), load },
    body: grpcFrame(new Uint8Array()),
    requests,
  });
}

/** The same as JSON, as a page or a script requests it. */
export function createJsonVolumeList(requests = 2_000): Bench {
  const load = {
    protocol: "http/1.1",
    path,
    contentType: "application/json",
    connections: 100,
    streams: 1,
  } as const;
  return createVolumeList("json-volume-list", "Connect with JSON and HTTP/1.1", {
    baseline: { file: fileOf("http1-server.ts"), load },
    ours: { file: fileOf("gateway-server.ts"), load },
    body: Buffer.from("{}"),
    requests,
  });
}

function createVolumeList(
  name: string,
  protocol: string,
  sides: Omit<LoadedSides, "answerMinBytes" | "unitOf">,
): Bench {
  const answerMinBytes = volumeCount * volumeNameLength;
  return {
    name,
    what: `GetLVList of ${volumeCount} volumes over ${protocol}`,
    baseline: "`@connectrpc/connect-fastify` with the same message",
    unit: "calls per CPU second",
    minRatio: 8,
    rounds: 20,
    coldRounds: 5,
    skipReason: h2loadSkipReason,
    start: (nodeFlags) =>
      startLoadedRun({ ...sides, answerMinBytes, unitOf: requestsPerCpuSecond }, nodeFlags),
  };
}
