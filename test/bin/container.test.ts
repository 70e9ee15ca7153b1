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
  build: z.string(),
  image: z.string(),
  command: z.array(z.string()),
  network_mode: z.literal("host"),
  volumes: z.array(z.string().regex(/^[\w./-]+:\/[\w./-]+(:ro)?$/)),
  user: z.string().exactOptional(),
  read_only: z.boolean().exactOptional(),
  cap_drop: z.array(z.string()).exactOptional(),
  security_opt: z.array(z.string()).exactOptional(),
  privileged: z.boolean().exactOptional(),
  pid: z.literal("host").exactOptional(),
  restart: z.enum(["no", "always", "on-failure", "unless-stopped"]),
  stop_grace_period: z.string().regex(/^\d+s$/),
});
const composeFile = z.strictObject({
  services: z.strictObject({ hostplane: service }),
  volumes: z.record(z.string(), z.strictObject({})),
});

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
  const { services } = composeFile.parse(parse(compose));
  t.same(services.hostplane.command, ["serve", "--sandbox"]);
  t.match(services.hostplane, { user: "node", read_only: true, cap_drop: ["ALL"] });
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
  t.match(JSON.parse(stdout), { services: { hostplane: { network_mode: "host" } } });
});

test("the real system in the comments of docker-compose.yml is valid too", async (t) => {
  const comments = compose.match(/^ {4}# .*$|^ {4}#$/gm)?.map((line) => line.slice(6)) ?? [];
  const at = comments.findIndex((line) => line.startsWith("command:"));
  const split = comments.findIndex((line) => line.startsWith("and in"));
  const real = parse(comments.slice(at, split).join("\n"));
  const {
    user: _user,
    read_only: _readOnly,
    cap_drop: _drop,
    security_opt: _opt,
    ...kept
  } = parse(compose).services.hostplane;
  t.match(service.parse({ ...kept, ...real }), { privileged: true, pid: "host" });
  const file = join(t.testdir({ "hostplane.yaml": comments.slice(split + 1).join("\n") }), "hostplane.yaml");
  t.match(await loadConfig({ file, env: {} }), {
    ok: true,
    config: { volumes: { lvm: { command: ["nsenter"] } } },
  });
});

test("the Dockerfile copies what is there, drops root and asks /healthz", async (t) => {
  const instructions = instructionsOf(readFileSync(join(root, "Dockerfile"), "utf8"));
  const known = "FROM WORKDIR COPY RUN ENV VOLUME USER HEALTHCHECK STOPSIGNAL ENTRYPOINT CMD".split(" ");
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
  t.equal(last("USER"), "node");
  t.match(last("HEALTHCHECK"), /127\.0\.0\.1:8080\/healthz/);
  for (const name of ["ENTRYPOINT", "CMD"]) {
    t.ok(Array.isArray(JSON.parse(last(name))), name);
  }
});
