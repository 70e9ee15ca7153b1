import { extname } from "node:path";
import { createWorkerProcess } from "../host/process/worker-process.ts";
import { outputOf } from "./errors.ts";
import type { RadosObject, RadosOptions } from "./librados.ts";
import { cephReasons } from "./reasons.ts";
import type { RadosAnswer, RadosRequest } from "./worker-protocol.ts";

/** A command as the `ceph` program sends it; `prefix` is its name. */
export interface CephCommand {
  readonly prefix: string;
  readonly [argument: string]: string | readonly string[];
}

/** Queries a cluster, with librados in a separate process. */
export interface RadosClient {
  /**
   * Returns the reply of the monitors or the manager, as JSON if the command supports it.
   * @throws InfraError CEPH_UNAVAILABLE, CEPH_DENIED, CEPH_FAILED, TOOL_MISSING (librados)
   */
  command(target: "mon" | "mgr", command: CephCommand, as: RadosOptions): Promise<string>;
  /** Returns the result of `parsePoolScrubs` for all placement groups, as JSON. @throws as `command` */
  poolScrubs(as: RadosOptions): Promise<string>;
  /** Returns all keys of an object's omap with this prefix; empty if there is no such object. @throws as `command` */
  omapKeys(object: RadosObject, prefix: string, as: RadosOptions): Promise<readonly string[]>;
  close(): void;
}

/** Time beyond librados' own timeout after which the process is considered hung and killed. */
const graceMs = 3_000;

/** Creates the client. The process with librados starts at the first request, and again after it has ended. */
export function createRadosClient(): RadosClient {
  const worker = createWorkerProcess<RadosRequest, RadosAnswer>({
    // In a build, the files are JavaScript.
    file: new URL(`worker${extname(import.meta.url)}`, import.meta.url),
    what: "librados",
    unavailable: cephReasons.CEPH_UNAVAILABLE,
    // Each hanging call occupies a thread; other calls must still get one.
    env: { UV_THREADPOOL_SIZE: "16" },
  });

  async function request(as: RadosOptions, what: string, question: RadosRequest["query"]): Promise<string> {
    // The first request connects, which may take as long again.
    return outputOf(await worker.request({ as, query: question }, 2 * as.timeoutMs + graceMs), what, as);
  }

  return {
    command: (target, command, as) =>
      request(as, command.prefix, { target, command: JSON.stringify({ ...command, format: "json" }) }),
    poolScrubs: (as) => request(as, "pg dump", { poolScrubs: true }),
    async omapKeys(object, prefix, as) {
      const found: string[] = [];
      for (;;) {
        const question = { omapKeysOf: object, after: found.at(-1) ?? prefix };
        const keys: readonly string[] = JSON.parse(await request(as, `omap of ${object.name}`, question));
        const matching = keys.filter((key) => key.startsWith(prefix));
        found.push(...matching);
        // Keys arrive in order.
        if (keys.length === 0 || matching.length < keys.length) {
          return found;
        }
      }
    },
    close: worker.close,
  };
}
