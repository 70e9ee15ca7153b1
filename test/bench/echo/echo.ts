import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import type { Bench } from "../bench.ts";
import { EchoRequestSchema, RepeatRequestSchema } from "../gen/bench/v1/echo_pb.ts";
import { grpcFrame } from "../load/grpc-call.ts";
import { h2loadSkipReason, type Load } from "../load/h2load.ts";
import { type LoadedSides, requestsPerCpuSecond, startLoadedRun, usPerRequest } from "../load/loaded-run.ts";

const text = "x".repeat(1_024);
/** Messages of a stream: their number, and the text of each. */
const repeated = { count: 1_000, text: "x".repeat(16) };

const grpc: Load = {
  protocol: "h2c",
  path: "/bench.v1.EchoService/Echo",
  contentType: "application/grpc+proto",
  connections: 10,
  streams: 10,
};
const json: Load = {
  protocol: "http/1.1",
  path: "/bench.v1.EchoService/Echo",
  contentType: "application/json",
  connections: 100,
  streams: 1,
};

const gateway = join(import.meta.dirname, "gateway-server.ts");
const grpcJs = join(import.meta.dirname, "grpc-js-server.ts");
const plainFastify = join(import.meta.dirname, "fastify-server.ts");

/** A unary gRPC call, including everything that a gateway does for each call. */
export function createGrpcEcho(requests = 10_000): Bench {
  const sides: LoadedSides = {
    baseline: { file: grpcJs, load: grpc },
    ours: { file: gateway, load: grpc },
    body: grpcFrame(toBinary(EchoRequestSchema, create(EchoRequestSchema, { text }))),
    answerMinBytes: text.length,
    requests,
    unitOf: usPerRequest,
  };
  return {
    name: "grpc-echo",
    what: "a unary gRPC call with 1 KB in each direction",
    baseline: "`@grpc/grpc-js`",
    unit: "µs CPU",
    maxRatio: 1.25,
    rounds: 20,
    coldRounds: 5,
    skipReason: h2loadSkipReason,
    start: (nodeFlags) => startLoadedRun(sides, nodeFlags),
  };
}

/** The same as JSON, as a script or a browser calls it. */
export function createJsonEcho(requests = 10_000): Bench {
  const sides: LoadedSides = {
    baseline: { file: plainFastify, load: { ...json, path: "/echo" } },
    ours: { file: gateway, load: json },
    body: Buffer.from(JSON.stringify({ text })),
    answerMinBytes: text.length,
    requests,
    unitOf: usPerRequest,
  };
  return {
    name: "json-echo",
    what: "a unary Connect call over HTTP/1.1 with 1 KB of JSON in each direction",
    baseline: "a route of Fastify with a schema",
    unit: "µs CPU",
    maxRatio: 1.6,
    rounds: 20,
    coldRounds: 5,
    skipReason: h2loadSkipReason,
    start: (nodeFlags) => startLoadedRun(sides, nodeFlags),
  };
}

/** Many small messages as response to one call. */
export function createGrpcStream(requests = 100): Bench {
  const load = { ...grpc, path: "/bench.v1.EchoService/Repeat" };
  const sides: LoadedSides = {
    baseline: { file: grpcJs, load },
    ours: { file: gateway, load },
    body: grpcFrame(toBinary(RepeatRequestSchema, create(RepeatRequestSchema, repeated))),
    answerMinBytes: repeated.count * repeated.text.length,
    requests,
    unitOf: (cpuMs, streams) => requestsPerCpuSecond(cpuMs, streams * repeated.count),
  };
  return {
    name: "grpc-stream",
    what: `a gRPC server stream of ${repeated.count.toLocaleString("en")} messages of ${repeated.text.length} bytes`,
    baseline: "`@grpc/grpc-js`",
    unit: "messages per CPU second",
    minRatio: 1,
    rounds: 20,
    coldRounds: 5,
    skipReason: h2loadSkipReason,
    start: (nodeFlags) => startLoadedRun(sides, nodeFlags),
  };
}
