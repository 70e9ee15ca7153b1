import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import type { Test } from "tap";
import { build } from "vite";

const root = resolve(import.meta.dirname, "../..");

const index = `<!doctype html><script type="module" src="./main.ts"></script>`;

/** As docs/how-to/use-the-typescript-client.md says. */
const worker = `import "hostplane/client/stream-worker";`;

/**
 * Follows five different streams, and counts what each has received since it was live. The query has the gateway's address, a
 * token and the window's number.
 */
const main = `
import { createHostplaneClient } from "hostplane/client";

const query = new URLSearchParams(location.search);
const client = createHostplaneClient({
  baseUrl: query.get("gateway"),
  token: query.get("token"),
  streamWorker: () => new SharedWorker(new URL("./stream.worker.ts", import.meta.url), { type: "module" }),
});
const resources = ["volumeGroups/sandbox-vg", "window/" + query.get("number")];
const watches = {
  events: (options) => client.watchEvents({ topics: ["volumes"], ...options }),
  ownEvents: (options) => client.watchEvents({ resources, ...options }),
  freeSpace: (options) => client.watch((call) => client.volumeGroups.watch({}, call), options),
  volumes: (options) =>
    client.watch((call) => client.inventory.watchResources({ filter: { types: ["volume"] } }, call), options),
  domain: (options) =>
    client.watch((call) => client.inventory.watchResources({ filter: { domains: ["volumes"] } }, call), options),
};
globalThis.seen = Object.fromEntries(Object.keys(watches).map((name) => [name, { state: "", messages: 0, error: "" }]));
globalThis.volumeNames = async () => (await client.volumeGroups.getLVList({})).volumes.map(({ name }) => name);
for (const [name, watch] of Object.entries(watches)) {
  const seen = globalThis.seen[name];
  void (async () => {
    try {
      for await (const _ of watch({ onState: ({ state }) => { seen.state = state; } })) {
        seen.messages += 1;
      }
    } catch (error) {
      seen.error = String(error);
    }
  })();
}
`;

/** What a window of the page has received, by the name of the stream. */
export type Seen = Readonly<
  Record<string, { readonly state: string; readonly messages: number; readonly error: string }>
>;

/**
 * Builds a page with `hostplane/client` by Vite, as a user of the package does, and serves it on a free port of loopback.
 * @returns the port
 */
export async function startOtherDashboard(t: Test): Promise<number> {
  const project = await mkdtemp(join(tmpdir(), "hostplane-dashboard-"));
  t.teardown(() => rm(project, { recursive: true }));
  await Promise.all([
    writeFile(join(project, "index.html"), index),
    writeFile(join(project, "main.ts"), main),
    writeFile(join(project, "stream.worker.ts"), worker),
  ]);
  const alias = [
    {
      find: "hostplane/client/stream-worker",
      replacement: join(root, "client/shared-streams/stream-worker.ts"),
    },
    { find: "hostplane/client", replacement: join(root, "client/client.ts") },
  ];
  await build({
    root: project,
    configFile: false,
    logLevel: "error",
    resolve: { alias },
    worker: { format: "es" },
  });
  const types: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript" };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    const path = pathname === "/" ? "/index.html" : pathname;
    readFile(join(project, "dist", path)).then(
      (content) =>
        response.setHeader("content-type", types[extname(path)] ?? "application/octet-stream").end(content),
      () => response.writeHead(404).end(),
    );
  });
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}
