import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** When a program asks for any port, Linux assigns one from 32768 on, and macOS from 49152 on. Browsers refuse some below 20000. */
const [firstPort, endPort] = [20_000, 30_000];

/**
 * Returns a free port of loopback, for a server that is started later or again. Until then the system does not assign it to another
 * program, which it may do with a port that it has chosen itself.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(firstPort, endPort);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) {
      return port;
    }
  }
}
