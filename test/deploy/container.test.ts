import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "tap";
import { parse } from "yaml";
import { z } from "zod";
import { loadConfig } from "../../server/gateway/config/load.ts";
import { root } from "../server/cli/run-hostplane.ts";

const compose = readFileSync(join(root, "docker-compose.yml"), "utf8");

const build = z.union([
  z.literal("."),
  z.strictObject({ context: z.literal("."), args: z.strictObject({ PACKAGES: z.string() }) }),
]);
const profiles = z.tuple([z.literal("host")]);
const gatewayKeys = {
  profiles,
  build,
  image: z.string(),
  pull_policy: z.literal("build"),
  command: z.array(z.string()),
  network_mode: z.literal("host"),
  environment: z.strictObject({ HOSTPLANE_STORE: z.string() }),
  depends_on: z.strictObject({ postgres: z.strictObject({ condition: z.literal("service_healthy") }) }),
  restart: z.literal("unless-stopped"),
  stop_grace_period: z.string().regex(/^\d+m$/),
};
const mounts = z.array(z.string().regex(/^[\w./-]+:\/[\w./-]+(:ro)?$/));
const published = z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/, "published to this machine only"));

/** The keys of the Compose specification that the file uses; for hosts without the compose plugin. */
const composeFile = z.strictObject({
  "x-gateway": z.strictObject(gatewayKeys),
  services: z.strictObject({
    hostplane: z.strictObject({
      build,
      image: z.string(),
      pull_policy: z.literal("build"),
      command: z.array(z.string()),
      ports: published,
      environment: z.strictObject({ HOSTPLANE_DATA: z.string() }),
      tmpfs: z.array(z.string()),
      read_only: z.literal(true),
      cap_drop: z.tuple([z.literal("ALL")]),
      security_opt: z.array(z.string()),
      restart: z.literal("unless-stopped"),
      stop_grace_period: z.string().regex(/^\d+s$/),
    }),
    gateway: z
      .strictObject({
        ...gatewayKeys,
        user: z.literal("root").exactOptional(),
        privileged: z.literal(true).exactOptional(),
        pid: z.literal("host").exactOptional(),
        group_add: z.array(z.string()).exactOptional(),
        volumes: mounts,
      })
      .exactOptional(),
    postgres: z.strictObject({
      profiles,
      image: z.string(),
      ports: published,
      environment: z.record(z.string(), z.string()),
      volumes: mounts,
      healthcheck: z.strictObject({ test: z.array(z.string()), interval: z.string(), retries: z.number() }),
      restart: z.literal("unless-stopped"),
      stop_grace_period: z.string().regex(/^\d+s$/),
    }),
  }),
  volumes: z.record(z.string(), z.strictObject({})),
});
const parseCompose = (text: string) => composeFile.parse(parse(text, { merge: true }));
const { services, volumes } = parseCompose(compose);

/** A commented section of a real system. */
interface Section {
  readonly name: string;
  /** Lines for the configuration file. */
  readonly configuration: string;
  /** The file with this section uncommented. */
  readonly uncommented: string;
}

function sectionsOf(text: string): readonly Section[] {
  return [...text.matchAll(/^ {2}# -{3,} (.+?) -{3,}\n((?: {2}#.*\n)+)/gm)].map(
    ([, name = "", body = ""]) => {
      const configuration = /^ {2}# hostplane\.yaml:\n((?: {2}# {3}.*\n)+)/m.exec(body)?.[1] ?? "";
      const service = /^ {2}# gateway:\n(?: {2}# {3}.*\n)+/m.exec(body)?.[0] ?? "";
      return {
        name,
        configuration: configuration.replaceAll(/^ {2}# {3}/gm, ""),
        // Replaced within the section, because two sections have the same service.
        uncommented: text.replace(body, () =>
          body.replace(service, () => service.replaceAll(/^ {2}# /gm, "  ")),
        ),
      };
    },
  );
}

/** Returns the instructions of a Dockerfile, with continued lines joined. */
function instructionsOf(dockerfile: string): { readonly name: string; readonly value: string }[] {
  const joined = dockerfile.replaceAll(/^\s*#.*\n/gm, "").replaceAll(/\\\n\s*/g, "");
  return joined
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name = "", value = ""] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
      return { name, value };
    });
}

test("docker-compose.yml is a sandbox on the host's loopback that runs without root and stores nothing", async (t) => {
  const { command, ports, environment, tmpfs } = services.hostplane;
  t.same(command.slice(0, 3), ["serve", "--sandbox", "--set"]);
  t.same(ports, ["127.0.0.1:8080:8080"]);
  t.match(await loadConfig({ env: {}, flags: { set: command.slice(3) } }), {
    ok: true,
    config: { listen: [{ address: "0.0.0.0:8080", insecure: true }] },
  });
  t.ok(tmpfs.some((directory) => environment.HOSTPLANE_DATA.startsWith(`${directory}/`)));
});

test("docker compose accepts docker-compose.yml", async (t) => {
  const run = promisify(execFile);
  const hasPlugin = await run("docker", ["compose", "version"]).then(
    () => true,
    () => false,
  );
  if (!hasPlugin) {
    t.pass("there is no compose plugin; the test above checks the keys");
    return;
  }
  const { stdout } = await run("docker", [
    "compose",
    "-f",
    join(root, "docker-compose.yml"),
    "config",
    "--format",
    "json",
  ]);
  t.same(
    Object.keys(JSON.parse(stdout).services),
    ["hostplane"],
    "services of a profile start only on request",
  );
});

const variable = /\$\{POSTGRES_PASSWORD:-\}/;

test("its profile `host` has PostgreSQL, and the file contains no secret", async (t) => {
  t.match(services.postgres.environment.POSTGRES_PASSWORD, variable);
  t.same(services.gateway, undefined, "a section must be uncommented first");
});

test("each real system has a section, which defines a gateway when uncommented", async (t) => {
  const sections = sectionsOf(compose);
  t.same(
    sections.map(({ name }) => name),
    ["LVM", "libvirt", "Podman", "Ceph", "Kubernetes with Rook", "Kubernetes clusters on MAAS"],
  );
  for (const { name, configuration, uncommented } of sections) {
    const { gateway } = parseCompose(uncommented).services;
    const store = gateway?.environment.HOSTPLANE_STORE.replace(variable, "secret") ?? "";
    const file = join(t.testdir({ "hostplane.yaml": configuration }), "hostplane.yaml");
    t.match(
      await loadConfig({ file, env: { HOSTPLANE_STORE: store } }),
      { ok: true, config: { store: "postgres://hostplane:secret@127.0.0.1:5432/hostplane" } },
      name,
    );
    for (const mount of gateway?.volumes ?? []) {
      const [source = ""] = mount.split(":");
      t.ok(source.startsWith("/") || source in volumes, `${name}: ${mount}`);
    }
  }
});

test("a section requests only the privileges of its system", async (t) => {
  const rights = Object.fromEntries(
    sectionsOf(compose).map(({ name, uncommented }) => {
      const {
        user,
        privileged,
        pid,
        build,
        volumes: own = [],
      } = parseCompose(uncommented).services.gateway ?? {};
      const packages = typeof build === "object" ? [build.args.PACKAGES] : [];
      const rights = [user, privileged && "privileged", pid && "pid"].filter((right) => right !== undefined);
      return [name, [...rights, ...packages, ...own.slice(2).map((mount) => mount.split(":")[0])]];
    }),
  );
  t.same(rights, {
    LVM: ["root", "privileged", "pid", "/etc/lvm", "/dev"],
    libvirt: ["xorriso", "/run/libvirt"],
    Podman: ["root", "/run/podman"],
    Ceph: ["librados2", "/etc/ceph"],
    "Kubernetes with Rook": [],
    "Kubernetes clusters on MAAS": [],
  });
});

test("the Dockerfile copies existing files, drops root and has a health check", async (t) => {
  const instructions = instructionsOf(readFileSync(join(root, "Dockerfile"), "utf8"));
  const known = "FROM ARG WORKDIR COPY RUN ENV VOLUME USER HEALTHCHECK STOPSIGNAL ENTRYPOINT CMD".split(" ");
  for (const { name, value } of instructions) {
    t.ok(known.includes(name), `${name} ${value}`);
  }
  const context = readFileSync(join(root, ".dockerignore"), "utf8")
    .split("\n")
    .flatMap((line) => (line.startsWith("!") ? line.slice(1) : []));
  const copies = instructions.filter(({ name, value }) => name === "COPY" && !value.startsWith("--from"));
  for (const source of copies.flatMap(({ value }) => value.split(" ").slice(0, -1))) {
    t.ok(context.includes(source) && existsSync(join(root, source)), source);
  }
  const last = (name: string) => instructions.findLast((each) => each.name === name)?.value ?? "";
  // Kubernetes can verify only a number not to be root's.
  t.match(last("USER"), /^[1-9]\d*:[1-9]\d*$/);
  const [, healthcheck = ""] = last("HEALTHCHECK").split("CMD ");
  t.same(JSON.parse(healthcheck), ["node", "/opt/hostplane/bin/healthcheck.js"]);
  for (const name of ["ENTRYPOINT", "CMD"]) {
    t.ok(Array.isArray(JSON.parse(last(name))), name);
  }
});
