import { chmodSync, existsSync, lstatSync, unlinkSync } from "node:fs";
import * as net from "node:net";
import { dirname } from "node:path";

/**
 * Binds a server to a socket file that at no moment can be opened by anyone whom `mode` excludes. Replaces a file left by a
 * stopped gateway.
 * @param mode permission bits, e.g. 0o600
 * @throws Error when its directory does not exist, the path is not a socket, or another process listens there
 */
export async function listenOnUnixSocket(server: net.Server, path: string, mode: number): Promise<void> {
  if (!existsSync(dirname(path))) {
    throw new Error(`the directory ${dirname(path)} of the socket does not exist`);
  }
  if (existsSync(path)) {
    if (!lstatSync(path).isSocket()) {
      throw new Error(`${path} exists and is not a socket`);
    }
    if (await isAnswered(path)) {
      throw new Error(`another process listens on ${path}`);
    }
    unlinkSync(path);
  }
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // bind(2) runs inside listen() before it returns, so the current umask determines the mode of the file.
    const umask = process.umask(0o177);
    try {
      server.listen(path, () => {
        server.off("error", reject);
        resolve();
      });
    } finally {
      process.umask(umask);
    }
  });
  try {
    chmodSync(path, mode);
  } catch (error) {
    server.close();
    throw error;
  }
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.connect(path);
    const settle = (answered: boolean) => {
      probe.destroy();
      resolve(answered);
    };
    probe.once("connect", () => settle(true));
    probe.once("error", () => settle(false));
  });
}
