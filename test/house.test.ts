import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { test } from "tap";

const root = resolve(import.meta.dirname, "..");

/**
 * Modules that each module may import, besides itself. Imports run in one direction only: anything not listed here must not be
 * imported.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "adapters/ceph": ["adapters/host", "adapters/sandbox"],
  "adapters/host": [],
  "adapters/kubernetes": ["adapters/host", "adapters/sandbox"],
  "adapters/libvirt": ["adapters/host", "adapters/sandbox"],
  "adapters/libvirt/rpc": ["adapters/host"],
  "adapters/lvm": ["adapters/host", "adapters/sandbox"],
  "adapters/maas": ["adapters/host", "adapters/sandbox"],
  "adapters/mounts": ["adapters/host", "adapters/sandbox"],
  "adapters/podman": ["adapters/host", "adapters/sandbox"],
  "adapters/restic": ["adapters/host", "adapters/sandbox"],
  "adapters/sandbox": ["adapters/host"],
  "adapters/workload": ["adapters/host", "adapters/sandbox"],
  client: ["gen"],
  "client/services.ts": ["gen"],
  "dashboard/action": [
    "client",
    "dashboard/live",
    "dashboard/parts",
    "dashboard/session.ts",
    "dashboard/shell",
    "gen",
  ],
  "dashboard/app.tsx": [
    "dashboard/action",
    "dashboard/host",
    "dashboard/layout",
    "dashboard/live",
    "dashboard/session.ts",
    "dashboard/shell",
  ],
  "dashboard/backend.ts": [],
  "dashboard/charts": ["dashboard/parts"],
  // The script of /docs is a program of its own.
  "dashboard/docs": [],
  "dashboard/host": ["client", "gen"],
  "dashboard/layout": [
    "client",
    "dashboard/action",
    "dashboard/backend.ts",
    "dashboard/host",
    "dashboard/live",
    "dashboard/pages",
    "dashboard/parts",
    "dashboard/resources",
    "dashboard/session.ts",
    "dashboard/shell",
    "gen",
  ],
  "dashboard/live": ["client", "dashboard/host", "dashboard/session.ts", "gen"],
  "dashboard/main.tsx": ["dashboard/app.tsx", "dashboard/layout", "dashboard/resources", "dashboard/style"],
  "dashboard/parts": ["client", "dashboard/live", "dashboard/session.ts", "gen"],
  "dashboard/limit-reads.ts": [],
  "dashboard/session.ts": [
    "client",
    "dashboard/backend.ts",
    "dashboard/host",
    "dashboard/limit-reads.ts",
    "gen",
  ],
  "dashboard/vite.config.ts": [],
  "dashboard/resources": [
    "client",
    "dashboard/action",
    "dashboard/charts",
    "dashboard/host",
    "dashboard/live",
    "dashboard/parts",
    "dashboard/session.ts",
    "dashboard/shell",
    "gen",
  ],
  "dashboard/shell": ["dashboard/parts", "dashboard/session.ts", "gen"],
  ...pageRooms(),
  gen: [],
  "server/cli/table": ["adapters/host", "gen"],
  "server/config": [
    "adapters/host",
    "adapters/libvirt",
    "adapters/lvm",
    "adapters/maas",
    "adapters/restic",
    "server/rpc/access",
  ],
  "server/rpc/access": ["server/rpc/call"],
  "server/rpc/call": [
    "adapters/host",
    "gen",
    "server/operations/mutation.ts",
    "server/rpc/access",
    "server/rpc/errors",
    "server/rpc/protocols/http/client-certificate.ts",
    "server/rpc/protocols/http/http-exchange.ts",
    "server/rpc/streams",
  ],
  "server/rpc/errors": ["adapters/host", "gen", "server/rpc/call"],
  "server/rpc/interceptors": [
    "adapters/host",
    "gen",
    "server/config",
    "server/rpc/access",
    "server/rpc/call",
    "server/rpc/errors",
    "server/store/reasons.ts",
  ],
  "server/rpc/reasons.ts": ["adapters/host"],
  "server/rpc/listener": ["adapters/host", "server/config", "server/rpc/call", "server/rpc/protocols/http"],
  "server/rpc/listing": ["adapters/host"],
  "server/rpc/openapi": [
    "adapters/host",
    "gen",
    "server/rpc/call",
    "server/rpc/errors",
    "server/rpc/protocols/rest",
    "server/rpc/protocols/sse",
  ],
  "server/rpc/reflection": ["gen", "server/rpc/call"],
  ...protocolRooms(),
  "server/rpc/streams": [
    "adapters/host",
    "server/rpc/call",
    "server/rpc/errors",
    "server/rpc/protocols/http/http-exchange.ts",
    "server/rpc/protocols/sse/message-event.ts",
    "server/rpc/protocols/wire",
  ],
  "server/rpc/call/requester.ts": ["server/rpc/call"],
  "server/operations": ["adapters/host", "server/crypto", "server/events", "server/store"],
  "server/operations/mutation.ts": [],
  "server/operations/operation.ts": ["adapters/host"],
  "server/operations/operation-filters.ts": ["server/operations/operation.ts"],
  "server/backups": [
    "server/config",
    "adapters/host",
    "adapters/restic",
    "server/crypto",
    "server/domain",
    "server/operations",
    "server/rpc/call/requester.ts",
    "server/store",
    "server/lvm/reasons.ts",
  ],
  "server/lvm": ["adapters/host", "adapters/lvm", "server/operations"],
  "server/lvm/reasons.ts": ["adapters/host"],
  "server/observability": ["adapters/host", "server/domain", "server/operations", "server/rpc"],
  "server/crypto": [],
  "server/master-key": ["adapters/host", "server/crypto", "server/store"],
  "server/domain": [
    "adapters/host",
    "adapters/sandbox",
    "gen",
    "server/backups",
    "server/config",
    "server/crypto",
    "server/events",
    "server/history",
    "server/operations",
    "server/rpc",
    "server/store",
    "server/fleet/fleet.ts",
  ],
  "server/domains/audit": [
    "server/cli/table",
    "server/domain",
    "adapters/host",
    "gen",
    "server/rpc",
    "server/store",
  ],
  "server/domains/auth": [
    "server/config",
    "server/cli/table",
    "server/domain",
    "adapters/host",
    "gen",
    "server/crypto",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/backups": [
    "server/cli/table",
    "adapters/host",
    "adapters/restic",
    "gen",
    "server/backups",
    "server/domain",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/clusters": [
    "server/cli/table",
    "server/config",
    "adapters/host",
    "adapters/maas",
    "adapters/workload",
    "gen",
    "server/crypto",
    "server/domain",
    "server/events",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/clusters/bootstrap": ["adapters/host", "server/crypto"],
  "server/domains/events": [
    "server/cli/table",
    "server/config",
    "server/operations",
    "server/domain",
    "adapters/host",
    "gen",
    "server/events",
    "server/rpc",
  ],
  "server/domains/fleet": [
    "server/cli/table",
    "server/config",
    "server/domain",
    "adapters/host",
    "gen",
    "server/fleet",
    "server/operations",
    "server/rpc",
  ],
  "server/domains/history": [
    "server/cli/table",
    "server/domain",
    "adapters/host",
    "gen",
    "server/history",
    "server/rpc",
  ],
  "server/domains/hypervisors": [
    "server/cli/table",
    "server/config",
    "adapters/host",
    "adapters/sandbox",
    "adapters/libvirt",
    "adapters/lvm",
    "adapters/restic",
    "gen",
    "server/backups",
    "server/lvm",
    "server/crypto",
    "server/domain",
    "server/events",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/inventory": [
    "server/cli/table",
    "adapters/host",
    "gen",
    "server/domain",
    "server/fleet",
    "server/rpc",
    "server/store",
  ],
  "server/domains/idempotency": ["adapters/host", "server/rpc", "server/store"],
  "server/domains/operations": [
    "server/cli/table",
    "server/domain",
    "server/fleet",
    "adapters/host",
    "gen",
    "server/events",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/plan": [
    "server/cli/table",
    "server/domain",
    "server/events",
    "server/fleet",
    "adapters/host",
    "gen",
    "server/crypto",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/pods": [
    "server/cli/table",
    "server/config",
    "adapters/host",
    "adapters/sandbox",
    "adapters/podman",
    "gen",
    "server/domain",
    "server/events",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/storage": [
    "server/cli/table",
    "server/config",
    "adapters/ceph",
    "adapters/host",
    "adapters/sandbox",
    "adapters/kubernetes",
    "gen",
    "server/domain",
    "server/events",
    "server/history/sampled-resource.ts",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/streams": ["adapters/host", "gen", "server/domain", "server/fleet", "server/rpc"],
  "server/domains/system": [
    "server/cli/table",
    "adapters/host",
    "gen",
    "server/domain",
    "server/history/sampled-resource.ts",
    "server/rpc",
    "server/store",
  ],
  "server/domains/volumes": [
    "server/cli/table",
    "server/config",
    "adapters/host",
    "adapters/sandbox",
    "adapters/lvm",
    "adapters/mounts",
    "adapters/restic",
    "gen",
    "server/backups",
    "server/lvm",
    "server/crypto",
    "server/domain",
    "server/events",
    "server/history/sampled-resource.ts",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/events": ["adapters/host", "server/store"],
  "server/fleet/fleet.ts": ["server/fleet"],
  "server/fleet": [
    "adapters/host",
    "gen",
    "server/config",
    "server/crypto",
    "server/events",
    "server/rpc",
    "server/store",
  ],
  "server/history": [],
  "server/history/sampled-resource.ts": [],
  "server/sandbox": ["adapters/sandbox", "gen", "server/domain"],
  "server/store": ["adapters/host"],
  "server/store/reasons.ts": ["adapters/host"],
  "server/web": [
    "adapters/host",
    "client/services.ts",
    "server/domain",
    "server/master-key",
    "server/rpc",
    "server/store/reasons.ts",
  ],
};

/** No protocol imports another one, except that a request for server-sent events is read like one of REST. */
function protocolRooms(): Record<string, readonly string[]> {
  const rpc = ["call", "errors", "streams"].map((room) => `server/rpc/${room}`);
  const shared = ["adapters/host", "gen", ...rpc, "server/rpc/protocols/http", "server/rpc/protocols/wire"];
  return {
    "server/rpc/protocols/connect-es": shared,
    "server/rpc/protocols/direct": shared,
    "server/rpc/protocols/http": ["server/config", ...shared],
    // A call names the response that it is written to, and the certificate of its client.
    "server/rpc/protocols/http/client-certificate.ts": ["server/rpc/protocols/http"],
    "server/rpc/protocols/http/http-exchange.ts": ["server/rpc/call"],
    "server/rpc/protocols/rest": shared,
    "server/rpc/protocols/sse": [...shared, "server/rpc/protocols/rest"],
    // A message that many streams share is encoded for all of them.
    "server/rpc/protocols/sse/message-event.ts": ["server/rpc/protocols/sse", "server/rpc/streams"],
    "server/rpc/protocols/wire": ["adapters/host"],
  };
}

/** Each page of the dashboard is a separate module and imports no other page. */
function pageRooms(): Record<string, readonly string[]> {
  const mayEnter = ["action", "charts", "host", "live", "parts", "resources", "session.ts", "shell"].map(
    (name) => `dashboard/${name}`,
  );
  const pages = readdirSync(join(root, "dashboard/pages"));
  return Object.fromEntries(pages.map((page) => [`dashboard/pages/${page}`, ["client", "gen", ...mayEnter]]));
}

/** Files that know all domains. Only these files may import each other. */
const wiring =
  /^server\/(main|domains\/(domains|commands))\.ts$|^server\/(cli\/(?!table\/)|commands\/|gateway\/)/;

/** The parts of an adapter that a domain may import: its interface and its rules, never the implementation. */
const adapterInterfaces =
  /^adapters\/\w+\/(adapter|backup-adapter|create-options|data\/data-adapter|data\/growable|device-adapter|machine|names|reasons|runtime-state|snapshot-room)\.ts$/;

interface Import {
  readonly from: string;
  readonly to: string;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const specifiers = text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g);
  return [...specifiers].map(([, specifier = ""]) => ({
    from: file,
    to: specifier.startsWith(".") ? relative(root, resolve(root, dirname(file), specifier)) : specifier,
  }));
}

function roomOf(file: string): string {
  const rooms = Object.keys(allowed).filter((room) => file === room || file.startsWith(`${room}/`));
  return rooms.toSorted((a, b) => b.length - a.length)[0] ?? file;
}

const imports = ["adapters", "client", "dashboard", "server"].flatMap(sourceFiles).flatMap(importsOf);

/** A folder declares the reasons of everything in it. */
function isOfOwnFolder(from: string, to: string): boolean {
  return to.endsWith("/reasons.ts") && from.startsWith(`${dirname(to)}/`);
}

test("imports run in one direction", async (t) => {
  t.ok(imports.length > 100, "imports were found");
  for (const { from, to } of imports) {
    if (wiring.test(from) || !/^(adapters|client|dashboard|server|gen|test)\//.test(to)) {
      continue;
    }
    const room = roomOf(from);
    const target = roomOf(to);
    const mayEnter = (each: string) => target === each || target.startsWith(`${each}/`);
    if (!isOfOwnFolder(from, to) && ![room, ...(allowed[room] ?? [])].some(mayEnter)) {
      t.fail(`${from} imports ${to}, which is not allowed for ${room}`);
    }
  }
});

test("adapters do not depend on HTTP, protobuf or a framework", async (t) => {
  for (const { from, to } of imports) {
    // Fakes act as servers.
    const isFake = /^adapters\/(maas|workload)\/fake\//.test(from);
    if (
      !isFake &&
      from.startsWith("adapters/") &&
      /^(@connectrpc|@bufbuild|fastify|node:https?2?$)/.test(to)
    ) {
      t.fail(`${from} imports ${to}`);
    }
  }
});

test("the client only uses what browsers and Node both have", async (t) => {
  const libraries = /^@(bufbuild\/protobuf(\/wkt)?|connectrpc\/connect(-web|\/protocol(-connect)?)?)$/;
  for (const { from, to } of imports) {
    if (from.startsWith("client/") && !/^(client|gen)\//.test(to) && !libraries.test(to)) {
      t.fail(`${from} imports ${to}`);
    }
  }
});

/** The most entries that a folder may have. The folder of the project itself is exempt: tools prescribe its files. */
const maxEntries = 25;

/** Every folder of the project with its number of entries, without generated ones. */
function folderSizes(folder: string): readonly (readonly [string, number])[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const folders = entries.filter(
    (entry) => entry.isDirectory() && !/^(\.|(node_modules|dist|gen|data|coverage)$)/.test(entry.name),
  );
  const inside = folders.flatMap(({ name }) => folderSizes(join(folder, name)));
  return folder === "." ? inside : [[folder, entries.length], ...inside];
}

test(`no folder has more than ${maxEntries} entries`, async (t) => {
  const sizes = folderSizes(".");
  t.ok(sizes.length > 100, "folders were found");
  for (const [folder, size] of sizes) {
    t.ok(size <= maxEntries, `${folder} has ${size} entries`);
  }
});

/** The folder of each file that several domains have. */
const domainFolders: readonly (readonly [folder: string, file: RegExp])[] = [
  ["system", /^(system|open-real|open-sandbox|sandbox-world)\.ts$/],
  ["doctor", /^(doctor|inspect-[a-z-]+)\.ts$/],
  ["monitoring", /^(backend|figures|metrics|resources)\.ts$/],
  ["events", /^(own-changes|observe-[a-z-]+|[a-z-]+-observer)\.ts$/],
];

test("every domain has the same files in the same folders", async (t) => {
  const files = sourceFiles("server/domains");
  for (const [folder, name] of domainFolders) {
    const named = files.filter((file) => name.test(basename(file)));
    t.ok(named.length > 3, `files of ${folder} were found`);
    for (const file of named) {
      t.equal(basename(dirname(file)), folder, file);
    }
  }
});

test("domains import only the interface of an adapter", async (t) => {
  for (const { from, to } of imports) {
    const isAdapter = /^adapters\/(?!(host|sandbox)\/)/.test(to);
    const isOpening =
      /^server\/domains\/\w+\/(system\/(open-real|open-sandbox|sandbox-world)|doctor\/doctor)\.ts$/.test(
        from,
      );
    if (from.startsWith("server/domains/") && !isOpening && isAdapter && !adapterInterfaces.test(to)) {
      t.fail(`${from} imports ${to}`);
    }
  }
});

test("the configuration imports only an adapter's rules for names and options", async (t) => {
  for (const { from, to } of imports) {
    if (
      from.startsWith("server/config/") &&
      /^adapters\/(?!host\/)/.test(to) &&
      !/\/(names|create-options)\.ts$/.test(to)
    ) {
      t.fail(`${from} imports ${to}`);
    }
  }
});

test("the commands of a domain import little, since the command line must start fast", async (t) => {
  for (const { from, to } of imports) {
    const isOwn =
      [dirname(from), `${dirname(from)}/cli`].includes(dirname(to)) &&
      !/\/(service|serve|domain)\.ts$/.test(to);
    const isLight = /^(gen|server\/cli\/table|adapters\/host)\/|^(node:|@bufbuild\/)/.test(to);
    if (/^server\/domains\/\w+\/commands\.ts$/.test(from) && !isOwn && !isLight) {
      t.fail(`${from} imports ${to}`);
    }
  }
});

test("the command line has the commands of every domain", async (t) => {
  const listed = imports.filter(({ from }) => from === "server/domains/commands.ts").map(({ to }) => to);
  for (const file of sourceFiles("server/domains").filter((name) =>
    /^server\/domains\/\w+\/commands\.ts$/.test(name),
  )) {
    t.ok(listed.includes(file), file);
  }
});

test("only adapters/host starts processes", async (t) => {
  for (const { from, to } of imports) {
    const isAllowed = /^adapters\/host\/process\/(start-by-fork|worker-process)\.ts$/.test(from);
    if (to === "node:child_process" && !isAllowed) {
      t.fail(`${from} imports ${to}`);
    }
  }
});

test("no test has its own timeout, which a busy machine would exceed; the runner has one", async (t) => {
  const files = readdirSync(join(root, "test"), { encoding: "utf8", recursive: true }).filter(
    (name) => name.endsWith(".test.ts") && !/^(browser|conformance|foreign|lab)\//.test(name),
  );
  t.ok(files.length > 100, "tests were found");
  const ownTimeout = /^ *(t\.)?test\([^\n]*\btimeout:|^ *timeout\b.*,\n *\}, async|\b(tap|t)\.setTimeout\(/m;
  t.strictSame(
    files.filter((name) => ownTimeout.test(readFileSync(join(root, "test", name), "utf8"))),
    [],
  );
});

test("a service file does not spawn, access files or use try", async (t) => {
  for (const file of sourceFiles("server/domains").filter((name) => name.endsWith("/service.ts"))) {
    const text = readFileSync(join(root, file), "utf8");
    t.notMatch(text, /\btry\s*\{|node:fs|node:child_process/, file);
  }
});

test("only the list of accelerators imports one, so that each can be deleted", async (t) => {
  const accelerators = /^server\/rpc\/protocols\/direct\//;
  const tests = sourceFiles("test").flatMap(importsOf);
  t.ok(
    imports.some(({ from, to }) => from === "server/gateway/accelerators.ts" && accelerators.test(to)),
    "an accelerator is listed",
  );
  for (const { from, to } of [...imports, ...tests]) {
    const isAllowed =
      from === "server/gateway/accelerators.ts" || accelerators.test(from.replace(/^test\//, ""));
    if (accelerators.test(to) && !isAllowed) {
      t.fail(`${from} imports ${to}`);
    }
  }
});

test("there are no import cycles", async (t) => {
  const next = Map.groupBy(imports, ({ from }) => from);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      t.fail([...path.slice(path.indexOf(file)), file].join(" -> "));
      return;
    }
    if (done.has(file)) {
      return;
    }
    for (const { to } of next.get(file) ?? []) {
      visit(to, [...path, file]);
    }
    done.add(file);
  };
  for (const file of next.keys()) {
    visit(file, []);
  }
});
