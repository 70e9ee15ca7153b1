import { existsSync } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A program: a registry on port 5000 of loopback with one image, under any name, from a directory that `podman push IMAGE
 * dir:DIRECTORY` has written. Layers wait while the directory has a file `hold`; requests are logged to the file `requests`.
 * Argument: the directory.
 */
const [directory = ""] = process.argv.slice(2);
const manifest = await readFile(join(directory, "manifest.json"));
const { mediaType, layers } = JSON.parse(manifest.toString()) as {
  mediaType?: string;
  layers: readonly { digest: string }[];
};
const type = mediaType ?? "application/vnd.oci.image.manifest.v1+json";

async function answer(path: string, response: ServerResponse): Promise<void> {
  await appendFile(join(directory, "requests"), `${path}\n`);
  const blob = /^\/v2\/.*\/blobs\/sha256:([0-9a-f]{64})$/.exec(path)?.[1];
  if (/^\/v2\/.*\/manifests\//.test(path)) {
    response.writeHead(200, { "content-type": type, "content-length": manifest.length }).end(manifest);
  } else if (blob !== undefined && existsSync(join(directory, blob))) {
    const isLayer = layers.some(({ digest }) => digest.endsWith(blob));
    while (isLayer && existsSync(join(directory, "hold")) && !response.destroyed) {
      await sleep(20);
    }
    const bytes = await readFile(join(directory, blob));
    response.writeHead(200, { "content-length": bytes.length }).end(bytes);
  } else {
    response.writeHead(path === "/v2/" ? 200 : 404).end();
  }
}

const server = createServer((request, response) => {
  answer(request.url ?? "", response).catch(() => response.destroy());
});
server.listen(5000, "127.0.0.1", () => process.stdout.write("listening\n"));
