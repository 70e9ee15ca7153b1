import { extname } from "node:path";
import { createWorkerProcess } from "../host/worker-process.ts";
import { outputOf } from "./errors.ts";
import type { RadosObject, RadosOptions } from "./librados.ts";
import type { RadosAnswer, RadosRequest } from "./worker-protocol.ts";

/** A command as the `ceph` program sends it; `prefix` is its words. */
export interface CephCommand {
  readonly prefix: string;
  readonly [argument: string]: string | readonly string[];
}

/** Asks a cluster, by librados in a process of its own. */
export interface RadosClient {
  /**
   * What the monitors or the manager answer, as JSON where the command has it.
   * @throws InfraError CEPH_UNAVAILABLE, CEPH_DENIED, CEPH_FAILED, TOOL_MISSING (librados)
   */
  command(target: "mon" | "mgr", command: CephCommand, as: RadosOptions): Promise<string>;
  /** What `parsePoolScrubs` makes of all placement groups, as JSON. @throws as `command` */
  poolScrubs(as: RadosOptions): Promise<string>;
  /** All keys of an object's omap that begin so; none when there is no such object. @throws as `command` */
  omapKeys(object: RadosObject, prefix: string, as: RadosOptions): Promise<readonly string[]>;
  close(): void;
}

/** How much longer than librados' own limit an answer is awaited, before it is taken for hung and killed. */
const graceMs = 3_000;

export function createRadosClient(): RadosClient {
  const worker = createWorkerProcess<RadosRequest, RadosAnswer>({
    // Where the gateway is built, its files are JavaScript.
    file: new URL(`worker${extname(import.meta.url)}`, import.meta.url),
    what: "librados",
    unavailable: "CEPH_UNAVAILABLE",
    // Calls that hang hold a thread each; the others are to go on.
    env: { UV_THREADPOOL_SIZE: "16" },
  });

  async function ask(as: RadosOptions, what: string, question: RadosRequest["ask"]): Promise<string> {
    // The first question connects, which may take as long again.
    return outputOf(await worker.request({ as, ask: question }, 2 * as.timeoutMs + graceMs), what, as);
  }

  return {
    command: (target, command, as) =>
      ask(as, command.prefix, { target, command: JSON.stringify({ ...command, format: "json" }) }),
    poolScrubs: (as) => ask(as, "pg dump", { poolScrubs: true }),
    async omapKeys(object, prefix, as) {
      const found: string[] = [];
      for (;;) {
        const question = { omapKeysOf: object, after: found.at(-1) ?? prefix };
        const keys: readonly string[] = JSON.parse(await ask(as, `omap of ${object.name}`, question));
        const wanted = keys.filter((key) => key.startsWith(prefix));
        found.push(...wanted);
        // Keys come in their order.
        if (keys.length === 0 || wanted.length < keys.length) {
          return found;
        }
      }
    },
    close: worker.close,
  };
}
