import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

const here = import.meta.dirname;
const root = resolve(here, "../../..");

/** `current` sends the socket's path percent-encoded as `:authority`; `1.32` (used by the original lvmd) sends it raw. */
export type GrpcGoVersion = "current" | "1.32";

export interface GoCall {
  /** `/proto.VGService/GetLVList` */
  readonly method: string;
  /** In proto3 JSON. */
  readonly request?: object;
  /** Number of stream responses to wait for; default: all. */
  readonly max?: number;
  readonly timeoutMs?: number;
}

export interface GoResult {
  readonly method: string;
  /** In grpc-go's spelling: `OK`, `NotFound`, ... */
  readonly code: string;
  readonly message: string;
  /** In proto3 JSON. */
  readonly responses: readonly unknown[];
}

/** Makes calls over one connection to a unix socket, one after the other. */
export type GoClient = (socketPath: string, calls: readonly GoCall[]) => Promise<GoResult[]>;

/**
 * Builds main.go with the given version of grpc-go into a directory, together with the descriptors of proto/. Returns a function
 * that makes calls with it. Needs Go and, for the first run, its module proxy.
 */
export async function buildGoClient(version: GrpcGoVersion, directory: string): Promise<GoClient> {
  const binary = join(directory, `lvmd-client-${version}`);
  const descriptors = join(directory, "descriptors.binpb");
  const run = promisify(execFile);
  const modfile = version === "current" ? [] : [`-modfile=grpc-${version}.mod`];
  await run("go", ["build", ...modfile, "-o", binary, "."], { cwd: here });
  await run(join(root, "tools/node_modules/.bin/buf"), ["build", root, "-o", descriptors]);

  return async (socketPath, calls) => {
    const client = spawn(binary, [socketPath, descriptors], { stdio: ["pipe", "pipe", "inherit"] });
    const exited = once(client, "exit");
    client.stdin.end(calls.map((call) => `${JSON.stringify(call)}\n`).join(""));
    const lines = (await text(client.stdout)).split("\n").filter((line) => line !== "");
    const [code] = await exited;
    if (code !== 0) {
      throw new Error(`lvmd-client ended with ${code} after ${lines.length} calls`);
    }
    return lines.map((line) => JSON.parse(line) as GoResult);
  };
}
