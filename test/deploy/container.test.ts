import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "tap";
import { parse } from "yaml";
import { z } from "zod";
import { loadConfig } from "../../server/config/load.ts";
import { root } from "../server/commands/run-hostplane.ts";

const compose = readFileSync(join(root, "docker-compose.yml"), "utf8");

/** The keys of the Compose specification that the file uses, for hosts without the compose plugin. */
const service = z.strictObject({
  profiles: z.array(z.string()).exactOptional(),
  build: z.string().exactOptional(),
  image: z.string(),
  command: z.array(z.string()).exactOptional(),
  network_mode: z.literal("host").exactOptional(),
  ports: z
    .array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/, "published to this machine alone"))
    .exactOptional(),
  environment: z.record(z.string(), z.string()).exactOptional(),
  volumes: z.array(z.string().regex(/^[\w./-]+:\/[\w./-]+(:ro)?$/)),
  user: z.string().exactOptional(),
  read_only: z.boolean().exactOptional(),
  cap_drop: z.array(z.string()).exactOptional(),
  security_opt: z.array(z.string()).exactOptional(),
  privileged: z.boolean().exactOptional(),
  pid: z.literal("host").exactOptional(),
  depends_on: z
    .record(z.string(), z.strictObject({ condition: z.literal("service_healthy") }))
    .exactOptional(),
  healthcheck: z
    .strictObject({ test: z.array(z.string()), interval: z.string(), retries: z.number() })
    .exactOptional(),
  restart: z.enum(["no", "always", "on-failure", "unless-stopped"]),
  stop_grace_period: z.string().regex(/^\d+[ms]$/),
});
const composeFile = z.strictObject({
  services: z.strictObject({ hostplane: service, gateway: service, postgres: service }),
  volumes: z.record(z.string(), z.strictObject({})),
});
const { services, volumes } = composeFile.parse(parse(compose));

/** Instructions of the Dockerfile reference, with continued lines joined. */
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

test("docker-compose.yml is a sandbox on the host's loopback, without root", async (t) => {
  const { command: [command, ...args] = [], ports, profiles } = services.hostplane;
  t.same([command, args[0], ports, profiles], ["serve", "--sandbox", ["127.0.0.1:8080:8080"], undefined]);
  const [flag, setting = ""] = args.slice(1);
  t.equal(flag, "--set");
  t.match(await loadConfig({ env: {}, flags: { set: [setting] } }), {
    ok: true,
    config: { listen: [{ address: "0.0.0.0:8080", insecure: true }] },
  });
  t.match(services.hostplane, { read_only: true, cap_drop: ["ALL"] });
  t.not(services.hostplane.user, "root");
});

test("docker compose accepts docker-compose.yml", async (t) => {
  const run = promisify(execFile);
  const hasPlugin = await run("docker", ["compose", "version"]).then(
    () => true,
    () => false,
  );
  if (!hasPlugin) {
    t.pass("no compose plugin here; the test above checks the keys");
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
    "what a profile holds starts when it is named",
  );
});

test("its profile `host` is a gateway of the host's LVM, with PostgreSQL and no secret in the file", async (t) => {
  const { gateway, postgres } = services;
  t.same([gateway.profiles, postgres.profiles], [["host"], ["host"]]);
  t.match(gateway, { privileged: true, pid: "host", network_mode: "host" });
  t.same(Object.keys(gateway.depends_on ?? {}), ["postgres"]);
  for (const mount of [services.hostplane, gateway, postgres].flatMap((each) => each.volumes)) {
    const [source = ""] = mount.split(":");
    t.ok(source.startsWith("/") || source in volumes, mount);
  }
  const variable = /\$\{POSTGRES_PASSWORD:-\}/;
  t.match(postgres.environment?.POSTGRES_PASSWORD, variable);
  const store = (gateway.environment?.HOSTPLANE_STORE ?? "").replace(variable, "secret");
  const [comment = ""] = /^ {2}# volumes:\n(?: {2}# .*\n)+/m.exec(compose) ?? [];
  const yaml = comment.replaceAll(/^ {2}# /gm, "");
  const file = join(t.testdir({ "hostplane.yaml": yaml }), "hostplane.yaml");
  t.match(await loadConfig({ file, env: { HOSTPLANE_STORE: store } }), {
    ok: true,
    config: {
      store: "postgres://hostplane:secret@127.0.0.1:5432/hostplane",
      volumes: { lvm: { command: ["nsenter"] } },
    },
  });
});

test("the Dockerfile copies what is there, drops root and says how the gateway is", async (t) => {
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
  // Kubernetes sees of a number only that it is not root's.
  t.match(last("USER"), /^[1-9]\d*:[1-9]\d*$/);
  const [, healthcheck = ""] = last("HEALTHCHECK").split("CMD ");
  t.same(JSON.parse(healthcheck), ["node", "/opt/hostplane/bin/healthcheck.js"]);
  for (const name of ["ENTRYPOINT", "CMD"]) {
    t.ok(Array.isArray(JSON.parse(last(name))), name);
  }
});
