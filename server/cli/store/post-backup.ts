import { request } from "node:http";
import { json } from "node:stream/consumers";
import { type StoreBackup, storeBackupPath } from "../../web/store-backup.ts";

/**
 * Calls the gateway behind an admin socket to write a backup of its store.
 * @throws Error with the gateway's message when no backup was written
 */
export function postBackup(socketPath: string, file: string): Promise<StoreBackup> {
  const path = `${storeBackupPath}?file=${encodeURIComponent(file)}`;
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path, method: "POST" }, async (response) => {
      try {
        const answer = (await json(response)) as StoreBackup & { readonly message?: string };
        if (response.statusCode === 200) {
          resolve(answer);
        } else {
          reject(new Error(answer.message ?? `the gateway answered ${response.statusCode}`));
        }
      } catch (error) {
        reject(error);
      }
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}
