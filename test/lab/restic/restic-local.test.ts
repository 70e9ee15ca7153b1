import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, open, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { ToolEnd } from "../../../adapters/host/process/tool-result.ts";
import { createRestic } from "../../../adapters/restic/restic.ts";
import { operationReasons } from "../../../server/operations/reasons.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { transferOptions } from "../../adapters/restic/contract.ts";
import { makeLocalSubject, reasonToSkip } from "../../adapters/restic/local-repository.ts";
import { markedProcesses } from "../../adapters/restic/marked.ts";

// Tests that need the real restic; contract.ts has those shared with the sandbox.
const skip = await reasonToSkip();
const { signal } = new AbortController();
/** A sparse file, which restic takes tens of seconds to read. */
const hugeBytes = 64 * 2 ** 30;

async function checksum(path: string, sizeBytes: number): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path);
  for await (const chunk of file.createReadStream({ end: sizeBytes - 1 })) {
    hash.update(chunk);
  }
  return hash.digest("hex");
}

/** Damages all packs with data, or the others, which are small and contain trees. */
async function damagePacks(
  repositoryPath: string,
  damage: (path: string) => Promise<void>,
  isChosen = (sizeBytes: number) => sizeBytes > 64 * 1024,
): Promise<void> {
  const files = await readdir(join(repositoryPath, "data"), { recursive: true, withFileTypes: true });
  for (const file of files.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath, file.name);
    if (isChosen((await stat(path)).size)) {
      await chmod(path, 0o600);
      await damage(path);
    }
  }
}

test("a restore writes what was backed up, and nothing beyond it", { skip }, async (t) => {
  const { restic, repository, prepare, source, target, sizeBytes } = await makeLocalSubject(t);
  await prepare();
  const before = await readFile(target);
  const spec = { device: source, sizeBytes, fileName: "data", tags: [] };
  const id = await restic.backup(repository, spec, transferOptions());
  await restic.restore(repository, { ...spec, id }, target, transferOptions());
  t.equal(await checksum(target, sizeBytes), await checksum(source, sizeBytes));
  const after = await readFile(target);
  t.equal(after.length, before.length);
  t.ok(after.subarray(sizeBytes).equals(before.subarray(sizeBytes)));
});

test("a read returns what was backed up, and leaving it stops restic", { skip }, async (t) => {
  const { restic, repository, prepare, source, sizeBytes } = await makeLocalSubject(t);
  await prepare();
  const spec = { device: source, sizeBytes, fileName: "data", tags: [] };
  const snapshot = { ...spec, id: await restic.backup(repository, spec, transferOptions()) };
  const hash = createHash("sha256");
  for await (const piece of restic.read(repository, snapshot, transferOptions())) {
    hash.update(piece);
  }
  t.equal(hash.digest("hex"), await checksum(source, sizeBytes));
  const options = transferOptions();
  for await (const _ of restic.read(repository, snapshot, options)) {
    t.equal((await markedProcesses(options.token)).length, 1);
    break;
  }
  t.strictSame(await markedProcesses(options.token), []);
  const killed = async () => {
    let isKilled = false;
    for await (const _ of restic.read(repository, snapshot, options)) {
      // Its earlier output still arrives, piece by piece.
      for (const { pid } of isKilled ? [] : await markedProcesses(options.token)) {
        isKilled = process.kill(pid, "SIGKILL");
      }
    }
  };
  t.equal(await reasonOf(killed()), "TOOL_FAILED", "truncated output does not look complete");
});

test("a device that ends too early leaves no snapshot", { skip }, async (t) => {
  const { restic, repository, prepare, source, sizeBytes } = await makeLocalSubject(t);
  await prepare();
  await truncate(source, sizeBytes - 1);
  const spec = { device: source, sizeBytes, fileName: "data", tags: ["cut"] };
  await t.rejects(restic.backup(repository, spec, transferOptions()), {
    reason: "TOOL_FAILED",
    message: new RegExp(`${sizeBytes - 1} bytes of .* were read instead of ${sizeBytes}`),
  });
  t.strictSame(await restic.list(repository, ["cut"], signal), []);
});

test("only devices and files are read and written", { skip }, async (t) => {
  const { restic, repository, prepare, directory, sizeBytes } = await makeLocalSubject(t);
  await prepare();
  for (const device of [directory, "/dev/null", join(directory, "absent")]) {
    const spec = { device, sizeBytes, fileName: "data", tags: [] };
    t.equal(await reasonOf(restic.backup(repository, spec, transferOptions())), "TOOL_FAILED", device);
    const restored = restic.restore(repository, { ...spec, id: "0".repeat(64) }, device, transferOptions());
    t.equal(await reasonOf(restored), "TOOL_FAILED", device);
  }
  t.notOk((await readdir(directory)).includes("absent"));
});

test("a backup with changed, truncated or removed data is BACKUP_DAMAGED", { skip }, async (t) => {
  const damages: Record<string, (path: string) => Promise<void>> = {
    changed: async (path) => {
      const bytes = await readFile(path);
      await writeFile(path, bytes.fill(0x55, 100_000, 100_016));
    },
    cut: (path) => truncate(path, 1_000),
    removed: (path) => rm(path),
  };
  for (const [what, damage] of Object.entries(damages)) {
    const subject = await makeLocalSubject(t, { patienceMs: 500 });
    const { restic, repository, prepare, source, target, sizeBytes, path } = subject;
    await prepare();
    const spec = { device: source, sizeBytes, fileName: "data", tags: [] };
    const id = await restic.backup(repository, spec, transferOptions());
    await damagePacks(path, damage);
    const verified = restic.verify(repository, { ...spec, id }, transferOptions());
    t.match(await verified.catch((error: unknown) => error), { reason: "BACKUP_DAMAGED" }, what);
    const restored = restic.restore(repository, { ...spec, id }, target, transferOptions());
    t.match(await restored.catch((error: unknown) => error), { reason: "BACKUP_DAMAGED" }, what);
  }
});

test("verifies the repository itself, not its cache", { skip }, async (t) => {
  const cacheDir = t.testdir();
  const subject = await makeLocalSubject(t, { cacheDir, patienceMs: 500 });
  const { restic, repository, prepare, source, sizeBytes, path } = subject;
  await prepare();
  const spec = { device: source, sizeBytes, fileName: "data", tags: [] };
  const id = await restic.backup(repository, spec, transferOptions());
  t.ok(
    (await readdir(cacheDir, { recursive: true })).some((name) => name.includes("/data/")),
    "it is cached",
  );
  await damagePacks(path, rm, (packBytes) => packBytes < 64 * 1024);
  const verified = restic.verify(repository, { ...spec, id }, transferOptions());
  t.equal(await reasonOf(verified), "BACKUP_DAMAGED");
});

test("secrets are in restic's environment and not in its argv", { skip }, async (t) => {
  const ends: ToolEnd[] = [];
  const subject = await makeLocalSubject(t, { onToolEnd: (end) => ends.push(end) });
  const { restic, prepare, source } = subject;
  await prepare();
  await truncate(source, hugeBytes);
  const repository = {
    ...subject.repository,
    access: { accessKeyId: "key-id-1234", secretAccessKey: "key-5678", sessionToken: "session-9012" },
    httpsProxy: "http://hugo:pass-3456@proxy.example.test:3128",
  };
  const controller = new AbortController();
  const token = crypto.randomUUID();
  const moving = Promise.withResolvers<void>();
  const spec = { device: source, sizeBytes: hugeBytes, fileName: "data", tags: ["a"] };
  const ended = reasonOf(
    restic.backup(repository, spec, {
      signal: controller.signal,
      token,
      onProgress: () => moving.resolve(),
    }),
  );
  await moving.promise;
  const processes = await markedProcesses(token);
  controller.abort(new InfraError(operationReasons.OPERATION_CANCELLED, "seen"));
  t.equal(await ended, "OPERATION_CANCELLED");

  const secrets = [repository.password, "key-id-1234", "key-5678", "session-9012", "pass-3456"];
  t.equal(processes.length, 1);
  for (const secret of secrets) {
    t.ok(processes[0]?.environment.includes(secret), "in the environment");
    t.notOk(JSON.stringify([processes[0]?.argv, ends]).includes(secret), "neither in argv nor for observers");
  }
  t.ok(processes[0]?.argv.includes("--stdin"));
});

test("a stopped backup is gone within a second, and does not block the next one", { skip }, async (t) => {
  const { restic, repository, prepare, source, target, sizeBytes } = await makeLocalSubject(t);
  await prepare();
  await writeFile(target, "");
  await truncate(target, hugeBytes);
  const controller = new AbortController();
  const token = crypto.randomUUID();
  const moving = Promise.withResolvers<void>();
  const huge = { device: target, sizeBytes: hugeBytes, fileName: "data", tags: ["huge"] };
  const ended = reasonOf(
    restic.backup(repository, huge, { signal: controller.signal, token, onProgress: () => moving.resolve() }),
  );
  await moving.promise;
  const stoppedAtMs = performance.now();
  controller.abort(new InfraError(operationReasons.OPERATION_CANCELLED, "by the test"));
  t.equal(await ended, "OPERATION_CANCELLED");
  t.ok(performance.now() - stoppedAtMs < 20_000, "long before its end");
  t.strictSame(await markedProcesses(token), []);
  t.strictSame(await restic.list(repository, [], signal), []);
  const spec = { device: source, sizeBytes, fileName: "data", tags: [] };
  const id = await restic.backup(repository, spec, transferOptions());
  await restic.forget(repository, [id], transferOptions());
  t.strictSame(await restic.list(repository, [], signal), []);
});

test("the restic of a killed gateway keeps running until it is settled", { skip }, async (t) => {
  const { restic, repository, prepare, source, target, sizeBytes, path } = await makeLocalSubject(t);
  await prepare();
  await truncate(target, hugeBytes);
  const token = crypto.randomUUID();
  const script = join(import.meta.dirname, "../../adapters/restic/backup-until-killed.ts");
  const args = [script, path, repository.password, target, String(hugeBytes), token];
  const gateway = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(gateway.stdout, "data");
  gateway.kill("SIGKILL");
  await once(gateway, "exit");
  const orphans = await markedProcesses(token);
  t.equal(orphans.length, 1, "restic keeps running");
  await restic.settle(token);
  t.strictSame(await markedProcesses(token), []);
  // restic considers the lock of an exited process alive until its new parent has reaped it.
  while (orphans.some(({ pid }) => existsSync(`/proc/${pid}`))) {
    await sleep(20);
  }
  t.strictSame(await restic.list(repository, ["killed"], signal), []);

  const spec = { device: source, sizeBytes, fileName: "data", tags: ["killed"] };
  const id = await restic.backup(repository, spec, transferOptions({ token }));
  t.equal(await restic.verify(repository, { ...spec, id }, transferOptions()), sizeBytes);
  await restic.forget(repository, [id], transferOptions());
  t.strictSame(
    await restic.list(repository, [], signal),
    [],
    "the lock of the killed process does not block it",
  );
});

test("a transfer without progress is REPOSITORY_UNREACHABLE", { skip }, async (t) => {
  const { restic, repository, prepare, source } = await makeLocalSubject(t, { stallMs: 400 });
  await prepare();
  await truncate(source, hugeBytes);
  const token = crypto.randomUUID();
  let stopped = false;
  const spec = { device: source, sizeBytes: hugeBytes, fileName: "data", tags: [] };
  const ended = reasonOf(
    restic.backup(repository, spec, {
      signal,
      token,
      onProgress: async () => {
        if (!stopped) {
          stopped = true;
          // As if its disk or network had stalled.
          for (const { pid } of await markedProcesses(token)) {
            process.kill(pid, "SIGSTOP");
          }
        }
      },
    }),
  );
  t.equal(await ended, "REPOSITORY_UNREACHABLE");
  t.strictSame(await markedProcesses(token), []);
});

test("a repository in use by another process is REPOSITORY_LOCKED", { skip }, async (t) => {
  const { restic, repository, prepare, target } = await makeLocalSubject(t);
  await prepare();
  await truncate(target, hugeBytes);
  const controller = new AbortController();
  const moving = Promise.withResolvers<void>();
  const huge = { device: target, sizeBytes: hugeBytes, fileName: "data", tags: [] };
  const options = transferOptions({ signal: controller.signal, onProgress: () => moving.resolve() });
  const ended = reasonOf(restic.backup(repository, huge, options));
  await moving.promise;
  t.equal(await reasonOf(restic.prune(repository, transferOptions())), "REPOSITORY_LOCKED");
  t.strictSame(await restic.list(repository, [], signal), [], "reading needs no lock");
  controller.abort();
  t.equal(await ended, "CALLER_LEFT");
});

test("close stops running tools", { skip }, async (t) => {
  const { restic, repository, prepare, target } = await makeLocalSubject(t);
  await prepare();
  await truncate(target, hugeBytes);
  const moving = Promise.withResolvers<void>();
  const huge = { device: target, sizeBytes: hugeBytes, fileName: "data", tags: [] };
  const options = transferOptions({ onProgress: () => moving.resolve() });
  const ended = reasonOf(restic.backup(repository, huge, options));
  await moving.promise;
  await restic.close();
  t.equal(await ended, "SHUTTING_DOWN");
  t.strictSame(await markedProcesses(options.token), []);
});

test("doctor reports what is missing", { skip }, async (t) => {
  const inspected = await createRestic().inspect();
  t.match(inspected, { version: /^0\.\d+/, findings: [{ ok: true, what: /^restic 0\./ }] });
  const missing = await createRestic({ command: ["hostplane-no-such-restic"] }).inspect();
  t.match(missing, { version: undefined, findings: [{ ok: false, fix: /apt-get install restic/ }] });
  const bare = await createRestic({ command: ["env", "-i", "/usr/bin/env", "restic"] }).inspect();
  t.match(bare.findings, [{ ok: true }, { ok: false, what: /does not pass on .*RESTIC_PASSWORD/ }]);
});
