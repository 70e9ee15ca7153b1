import { flushCompileCache } from "node:module";
import { createLogger } from "../../../server/cli/serve/logger.ts";
import { loadConfig } from "../../../server/gateway/config/load.ts";
import { startGateway } from "../../../server/gateway/start-gateway.ts";

/**
 * A program to be killed: the gateway of `serve`. It reports its address and each boundary in the life of clusters to its parent
 * process, and can kill itself with SIGKILL at a boundary. Arguments: configuration file, name of the boundary from
 * `boundariesOf`, number of the visit.
 */
const [file = "", fatal, visit] = process.argv.slice(2);
const loaded = await loadConfig({ file, env: {} });
if (!loaded.ok) {
  throw new Error(JSON.stringify(loaded.mistakes));
}
const { config } = loaded;
const logger = createLogger(config.log, process.stderr);
let visits = 0;
// The parent process may have ended.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
const gateway = await startGateway({
  config,
  isSandbox: false,
  version: "0.0.0",
  logger,
  secrets: {},
  boundary(point) {
    const points = boundariesOf(point);
    visits += points.filter((each) => each === fatal).length;
    if (fatal !== undefined && visits >= Number(visit)) {
      process.kill(process.pid, "SIGKILL");
    }
    process.send?.({ points });
  },
  onFatal(error) {
    logger.fatal({ err: error }, "internal error");
    process.exit(1);
  },
});
process.send?.({ addresses: gateway.addresses });
// After SIGKILL the next process would otherwise have no compile cache.
flushCompileCache();

/** A write of several machines counts as one boundary per new state: `before write wanted+released` is two. */
function boundariesOf(point: string): readonly string[] {
  const [, start = "", states = ""] = /^(\w+ write )(.*)$/.exec(point) ?? [];
  return start === "" ? [point] : [...new Set(states.split("+"))].map((state) => `${start}${state}`);
}
