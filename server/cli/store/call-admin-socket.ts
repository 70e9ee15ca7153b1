import { request } from "node:http";
import { json } from "node:stream/consumers";

/**
 * Calls a path of the gateway behind an admin socket.
 * @throws Error with the gateway's message when it refuses
 */
export function callAdminSocket<Answer>(
  socketPath: string,
  method: "GET" | "POST",
  path: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path, method }, async (response) => {
      try {
        const answer = (await json(response)) as Answer & { readonly message?: string };
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
