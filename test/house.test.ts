import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "tap";

const root = resolve(import.meta.dirname, "..");

/**
 * Modules that each module may import, besides itself. Imports run in one direction only: anything not listed here must not be
 * imported.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "adapters/ceph": ["adapters/host"],
  "adapters/host": [],
  "adapters/kubernetes": ["adapters/host"],
  "adapters/libvirt": ["adapters/host"],
  "adapters/libvirt/rpc": ["adapters/host"],
  "adapters/lvm": ["adapters/host"],
  "adapters/maas": ["adapters/host"],
  "adapters/podman": ["adapters/host"],
  "adapters/restic": ["adapters/host"],
  "adapters/workload": ["adapters/host"],
  client: ["gen"],
  "client/services.ts": ["gen"],
  "dashboard/action": ["client", "dashboard/live", "dashboard/parts", "dashboard/session.ts", "gen"],
  "dashboard/app.tsx": ["dashboard/action", "dashboard/layout", "dashboard/live", "dashboard/session.ts"],
  "dashboard/backend.ts": [],
  "dashboard/charts": ["dashboard/parts"],
  "dashboard/layout": [
    "client",
    "dashboard/action",
    "dashboard/backend.ts",
    "dashboard/live",
    "dashboard/pages",
    "dashboard/parts",
    "dashboard/session.ts",
    "gen",
  ],
  "dashboard/live": ["client", "dashboard/session.ts", "gen"],
  "dashboard/main.tsx": ["dashboard/app.tsx", "dashboard/style"],
  "dashboard/parts": ["client", "dashboard/live", "dashboard/session.ts", "gen"],
  "dashboard/limit-reads.ts": [],
  "dashboard/session.ts": ["client", "dashboard/backend.ts", "dashboard/limit-reads.ts", "gen"],
  "dashboard/vite.config.ts": [],
  ...pageRooms(),
  gen: [],
  "server/config": ["adapters/host", "adapters/libvirt", "adapters/lvm", "adapters/maas", "adapters/restic"],
  "server/rpc": ["adapters/host", "gen", "server/config", "server/store/reasons.ts"],
  "server/rpc/asker.ts": ["server/rpc"],
  "server/operations": ["adapters/host", "server/crypto", "server/events", "server/store"],
  "server/operations/operation.ts": ["adapters/host"],
  "server/operations/operation-filters.ts": ["server/operations/operation.ts"],
  "server/backups": [
    "server/config",
    "adapters/host",
    "adapters/restic",
    "server/crypto",
    "server/domain",
    "server/operations",
    "server/rpc/asker.ts",
    "server/store",
  ],
  "server/backups/lvm": ["adapters/host", "adapters/lvm", "server/operations"],
  "server/observability": ["adapters/host", "server/domain", "server/operations", "server/rpc"],
  "server/crypto": [],
  "server/domain": [
    "adapters/host",
    "gen",
    "server/backups",
    "server/config",
    "server/crypto",
    "server/events",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/audit": ["server/domain", "adapters/host", "gen", "server/rpc", "server/store"],
  "server/domains/auth": [
    "server/domain",
    "adapters/host",
    "gen",
    "server/crypto",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/backups": [
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
  "server/domains/clusters/bootstrap": ["adapters/host"],
  "server/domains/events": [
    "server/operations",
    "server/domain",
    "adapters/host",
    "gen",
    "server/events",
    "server/rpc",
  ],
  "server/domains/hypervisors": [
    "server/config",
    "adapters/host",
    "adapters/libvirt",
    "adapters/lvm",
    "adapters/restic",
    "gen",
    "server/backups",
    "server/crypto",
    "server/domain",
    "server/events",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/inventory": ["adapters/host", "gen", "server/domain", "server/rpc"],
  "server/domains/idempotency": ["server/rpc", "server/store"],
  "server/domains/operations": [
    "server/domain",
    "adapters/host",
    "gen",
    "server/events",
    "server/operations",
    "server/rpc",
  ],
  "server/domains/plan": ["server/domain", "adapters/host", "gen", "server/operations", "server/rpc"],
  "server/domains/pods": [
    "server/config",
    "adapters/host",
    "adapters/podman",
    "gen",
    "server/domain",
    "server/events",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/storage": [
    "server/config",
    "adapters/ceph",
    "adapters/host",
    "adapters/kubernetes",
    "gen",
    "server/domain",
    "server/events",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/domains/system": ["adapters/host", "gen", "server/domain", "server/rpc", "server/store"],
  "server/domains/volumes": [
    "server/config",
    "adapters/host",
    "adapters/lvm",
    "adapters/restic",
    "gen",
    "server/backups",
    "server/crypto",
    "server/domain",
    "server/events",
    "server/operations",
    "server/rpc",
    "server/store",
  ],
  "server/events": ["adapters/host", "server/store"],
  "server/store": [
    "adapters/host",
    "server/operations/operation-filters.ts",
    "server/operations/operation.ts",
  ],
  "server/store/reasons.ts": ["adapters/host"],
  "server/web": ["client/services.ts", "server/domain", "server/rpc", "server/store/reasons.ts"],
};

/** Each page of the dashboard is a separate module and imports no other page. */
function pageRooms(): Record<string, readonly string[]> {
  const mayEnter = ["action", "charts", "live", "parts", "session.ts"].map((name) => `dashboard/${name}`);
  const pages = readdirSync(join(root, "dashboard/pages"));
  return Object.fromEntries(pages.map((page) => [`dashboard/pages/${page}`, ["client", "gen", ...mayEnter]]));
}

/** Files that know all domains. Only these files may import each other. */
const wiring = /^server\/(main|command-line|domains\/domains)\.ts$|^server\/(commands|gateway)\//;

/** The parts of an adapter that a domain may import: its interface and its rules, never the implementation. */
const adapterInterfaces =
  /^adapters\/\w+\/(adapter|backup-adapter|create-options|device-adapter|machine|names|reasons|runtime-state|snapshot-room)\.ts$/;

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

test("imports run in one direction", async (t) => {
  t.ok(imports.length > 100, "imports were found");
  for (const { from, to } of imports) {
    if (wiring.test(from) || !/^(adapters|client|dashboard|server|gen|test)\//.test(to)) {
      continue;
    }
    const room = roomOf(from);
    const target = roomOf(to);
    const mayEnter = (each: string) => target === each || target.startsWith(`${each}/`);
    if (![room, ...(allowed[room] ?? [])].some(mayEnter)) {
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
  const libraries = /^@(bufbuild\/protobuf(\/wkt)?|connectrpc\/connect(-web)?)$/;
  for (const { from, to } of imports) {
    if (from.startsWith("client/") && !/^(client|gen)\//.test(to) && !libraries.test(to)) {
      t.fail(`${from} imports ${to}`);
    }
  }
});

test("domains import only the interface of an adapter", async (t) => {
  for (const { from, to } of imports) {
    const isAdapter = to.startsWith("adapters/") && !to.startsWith("adapters/host/");
    const isOpening = /^server\/domains\/\w+\/(open-real|open-sandbox|doctor)\.ts$/.test(from);
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

test("only adapters/host starts processes", async (t) => {
  for (const { from, to } of imports) {
    const isAllowed = /^adapters\/host\/process\/(start-by-fork|worker-process)\.ts$/.test(from);
    if (to === "node:child_process" && !isAllowed) {
      t.fail(`${from} imports ${to}`);
    }
  }
});

test("a service file does not spawn, access files or use try", async (t) => {
  for (const file of sourceFiles("server/domains").filter((name) => name.endsWith("/service.ts"))) {
    const text = readFileSync(join(root, file), "utf8");
    t.notMatch(text, /\btry\s*\{|node:fs|node:child_process/, file);
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
