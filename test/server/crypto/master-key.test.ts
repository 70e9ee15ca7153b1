import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { type Test, test } from "tap";
import {
  loadMasterKey,
  type MasterKeyOptions,
  masterKeyFromText,
} from "../../../server/crypto/master-key.ts";

const newText = () => randomBytes(32).toString("base64");

async function inDirectory(t: Test): Promise<MasterKeyOptions> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-key-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return {
    environmentKey: undefined,
    keyFile: undefined,
    defaultFile: join(directory, "key"),
    isStoreNew: true,
  };
}

test("a new store gets its own key, readable only by the owner, and keeps it", async (t) => {
  const options = await inDirectory(t);
  const created = loadMasterKey(options);
  t.match(created.fingerprint, /^[0-9a-f]{32}$/);
  t.equal(created.source, options.defaultFile);
  t.equal((await stat(options.defaultFile)).mode & 0o777, 0o600);
  t.same(await readdir(join(options.defaultFile, "..")), ["key"], "no draft is left");
  t.equal(loadMasterKey({ ...options, isStoreNew: false }).fingerprint, created.fingerprint);
  const text = await readFile(options.defaultFile, "utf8");
  t.equal(masterKeyFromText(text, "text").fingerprint, created.fingerprint);
  t.notMatch(text, created.fingerprint);
});

test("an existing store does not get another key", async (t) => {
  const options = await inDirectory(t);
  t.throws(() => loadMasterKey({ ...options, isStoreNew: false }), /is missing.*restore it/);
  t.same(await readdir(join(options.defaultFile, "..")), []);
});

test("the variable overrides the file, and the configured file the default one", async (t) => {
  const options = await inDirectory(t);
  const keyFile = join(options.defaultFile, "..", "configured");
  const [ofVariable, ofFile] = [newText(), newText()];
  await writeFile(keyFile, `${ofFile}\n`, { mode: 0o600 });
  const both = loadMasterKey({ ...options, environmentKey: ofVariable, keyFile });
  t.equal(both.fingerprint, masterKeyFromText(ofVariable, "x").fingerprint);
  t.equal(both.source, "HOSTPLANE_KEY");
  const one = loadMasterKey({ ...options, environmentKey: "", keyFile });
  t.equal(one.fingerprint, masterKeyFromText(ofFile, "x").fingerprint);
  t.throws(
    () => loadMasterKey({ ...options, keyFile: `${keyFile}-missing` }),
    /the key file .* does not exist/,
  );
});

test("a key that others may read or change is refused", async (t) => {
  const options = await inDirectory(t);
  loadMasterKey(options);
  for (const mode of [0o604, 0o620, 0o644, 0o602, 0o777]) {
    await chmod(options.defaultFile, mode);
    t.throws(() => loadMasterKey(options), /chmod 600/, mode.toString(8));
  }
  for (const mode of [0o400, 0o440, 0o640]) {
    await chmod(options.defaultFile, mode);
    t.ok(loadMasterKey(options));
  }
});

test("an invalid key is refused without being repeated", async (t) => {
  const options = await inDirectory(t);
  const short = randomBytes(31).toString("base64");
  for (const text of ["", "x", short, randomBytes(33).toString("base64"), `${newText()}x`, "A".repeat(43)]) {
    await writeFile(options.defaultFile, text, { mode: 0o600 });
    t.throws(() => loadMasterKey(options), /expected 32 bytes in base64/);
  }
  t.throws(
    () => masterKeyFromText(`${"A".repeat(42)}B=`, "HOSTPLANE_KEY"),
    /expected 32 bytes/,
    "not canonical",
  );
  try {
    masterKeyFromText(short, "HOSTPLANE_KEY");
  } catch (error) {
    t.notMatch((error as Error).message, short);
  }
  await rm(options.defaultFile);
  await mkdir(options.defaultFile);
  t.throws(() => loadMasterKey(options), /is not a key file/);
});

test("any text is a key or is refused with an explanation", async () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.base64String(), fc.uint8Array({ minLength: 32, maxLength: 32 })),
      (any) => {
        const text = typeof any === "string" ? any : Buffer.from(any).toString("base64");
        try {
          return masterKeyFromText(text, "HOSTPLANE_KEY").fingerprint.length === 32;
        } catch (error) {
          return error instanceof Error && error.message.startsWith("HOSTPLANE_KEY: expected");
        }
      },
    ),
  );
});

test("keys for different purposes have nothing in common", async (t) => {
  const key = masterKeyFromText(newText(), "x");
  const exported = (purpose: string) => key.deriveKey(purpose).export().toString("hex");
  t.equal(exported("a"), exported("a"));
  t.not(exported("a"), exported("b"));
  t.notMatch(exported("fingerprint"), key.fingerprint);
});

test("gateways that start at once all have the same key", async (t) => {
  const options = await inDirectory(t);
  const module = new URL("../../../server/crypto/master-key.ts", import.meta.url).href;
  const program = `
    const { parentPort, workerData } = require("node:worker_threads");
    import(workerData.module).then(({ loadMasterKey }) =>
      parentPort.postMessage(loadMasterKey(workerData.options).fingerprint));`;
  const fingerprints = await Promise.all(
    Array.from(
      { length: 6 },
      () =>
        new Promise<string>((resolve, reject) => {
          const worker = new Worker(program, { eval: true, workerData: { module, options } });
          worker.once("message", resolve);
          worker.once("error", reject);
        }),
    ),
  );
  t.equal(new Set(fingerprints).size, 1);
  t.same(await readdir(join(options.defaultFile, "..")), ["key"]);
});
