import { createLogger } from "../../server/cli/serve/logger.ts";
import { loadConfig } from "../../server/gateway/config/load.ts";
import { startGateway } from "../../server/gateway/start-gateway.ts";

/**
 * A program: the gateway of `serve`, which kills itself with SIGKILL at a boundary of an operation, without any cleanup.
 * Arguments: configuration file, name of the boundary, number of the visit.
 */
const [file = "", boundary, visit] = process.argv.slice(2);
const loaded = await loadConfig({ file, env: {} });
if (!loaded.ok) {
  throw new Error(JSON.stringify(loaded.mistakes));
}
const { config } = loaded;
const logger = createLogger(config.log, process.stderr);
let visits = 0;
const gateway = await startGateway({
  config,
  isSandbox: false,
  version: "0.0.0",
  logger,
  secrets: {},
  boundary(name) {
    visits += name === boundary ? 1 : 0;
    if (name === boundary && visits === Number(visit)) {
      process.kill(process.pid, "SIGKILL");
    }
  },
  onFatal(error) {
    logger.fatal({ err: error }, "internal error");
    process.exit(1);
  },
});
// The same log line as from `serve`; the parent process waits for it.
logger.info({ addresses: gateway.addresses }, "listening");
