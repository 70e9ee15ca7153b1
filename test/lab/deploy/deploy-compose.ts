import { execFile } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Test } from "tap";
import { root } from "../../server/cli/run-hostplane.ts";
import { createLabScript } from "../lab-script.ts";
import { deployCheckers } from "./deploy-checkers.ts";

/** Maximum time from `up`, with the image already built, to the first response. */
const maxStartMs = 90_000;

/** Runs podman-compose on docker-compose.yml with a lab's Podman. @param directory of the lab */
export async function runCompose(directory: string, ...args: readonly string[]): Promise<string> {
  const { path, skip } = await deployCheckers();
  if (skip !== false) {
    throw new Error(skip);
  }
  const podman = join(directory, "podman-of-the-lab");
  const script = join(import.meta.dirname, "../podman/podman.sh");
  await writeFile(podman, `#!/bin/sh\nPODMAN_DIR=${directory} exec ${script} run "$@"\n`);
  await chmod(podman, 0o755);
  const file = join(root, "docker-compose.yml");
  const all = ["--podman-path", podman, "--project-name", "hostplane", "--file", file, ...args];
  const options = { maxBuffer: 1 << 26 };
  return (await promisify(execFile)(join(path, "podman-compose"), all, options)).stdout;
}

/**
 * Starts the sandbox of docker-compose.yml in a lab with its own network, logs in with the password from its log, and lists
 * volumes.
 * @param image file written by `podman save`
 */
export async function checkCompose(t: Test, image: string): Promise<void> {
  const { run, destroy, directory } = await createLabScript("podman");
  t.teardown(destroy);
  await run("up");
  await run("run", "load", "--quiet", "--input", image);

  const startedAtMs = performance.now();
  await runCompose(directory, "up", "--detach");
  const password = await passwordInLog(directory, startedAtMs + maxStartMs);
  const call = async (rpc: string, body: object, headers: readonly string[] = []) => {
    const flags = ["-sf", "-H", "content-type: application/json", ...headers, "-d", JSON.stringify(body)];
    return JSON.parse(await run("inside", "curl", ...flags, `http://127.0.0.1:8080/${rpc}`));
  };
  const { token } = await call("services.auth.AuthService/Login", { username: "admin", password });
  const list = await call("proto.VGService/GetLVList", {}, ["-H", `authorization: Bearer ${token}`]);
  const tookMs = performance.now() - startedAtMs;
  t.match(list, { volumes: [{ name: "sandbox-web" }, { name: "sandbox-db" }] });
  t.comment(`from \`up\` to the list of volumes: ${(tookMs / 1000).toFixed(1)} s`);
  t.ok(tookMs < maxStartMs, `${tookMs} ms`);

  await runCompose(directory, "restart", "hostplane");
  const again = await passwordInLog(directory, performance.now() + maxStartMs, password);
  t.not(again, password, "a restart is a first start again");
  await runCompose(directory, "down");
}

/** Returns the newest password in the log, once it differs from `before`. podman-compose colours the log. */
async function passwordInLog(directory: string, deadlineMs: number, before?: string): Promise<string> {
  for (;;) {
    const log = await runCompose(directory, "logs", "hostplane");
    const password = [...log.matchAll(/log in as admin with the password ([\w-]+)/g)].at(-1)?.[1];
    if (password !== undefined && password !== before) {
      return password;
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`no password in the log: ${log}`);
    }
    await sleep(200);
  }
}
