import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type Test, test } from "tap";
import { masterKeyFromText } from "../../../server/crypto/master-key.ts";
import {
  loadMasterKeys,
  type MasterKeysOptions,
  masterKeysFromText,
} from "../../../server/crypto/master-keys.ts";

const newText = () => randomBytes(32).toString("base64");
const fingerprintOf = (text: string) => masterKeyFromText(text.trim(), "text").fingerprint;

async function inDirectory(t: Test): Promise<MasterKeysOptions> {
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
  const created = loadMasterKeys(options);
  t.match(created.current.fingerprint, /^[0-9a-f]{32}$/);
  t.equal(created.source, options.defaultFile);
  t.equal((await stat(options.defaultFile)).mode & 0o777, 0o600);
  t.same(await readdir(join(options.defaultFile, "..")), ["key"], "no draft is left");
  t.equal(loadMasterKeys({ ...options, isStoreNew: false }).current.fingerprint, created.current.fingerprint);
  const text = await readFile(options.defaultFile, "utf8");
  t.equal(fingerprintOf(text), created.current.fingerprint);
  t.notMatch(text, created.current.fingerprint);
});

test("an existing store does not get another key", async (t) => {
  const options = await inDirectory(t);
  t.throws(() => loadMasterKeys({ ...options, isStoreNew: false }), /is missing.*restore it/);
  t.same(await readdir(join(options.defaultFile, "..")), []);
});

test("the variable overrides the file, and the configured file the default one", async (t) => {
  const options = await inDirectory(t);
  const keyFile = join(options.defaultFile, "..", "configured");
  const [ofVariable, ofFile] = [newText(), newText()];
  await writeFile(keyFile, `${ofFile}\n`, { mode: 0o600 });
  const both = loadMasterKeys({ ...options, environmentKey: ofVariable, keyFile });
  t.equal(both.current.fingerprint, fingerprintOf(ofVariable));
  t.equal(both.source, "HOSTPLANE_KEY");
  const one = loadMasterKeys({ ...options, environmentKey: "", keyFile });
  t.equal(one.current.fingerprint, fingerprintOf(ofFile));
  t.throws(
    () => loadMasterKeys({ ...options, keyFile: `${keyFile}-missing` }),
    /the key file .* does not exist/,
  );
});

test("a key that others may read or change is refused", async (t) => {
  const options = await inDirectory(t);
  loadMasterKeys(options);
  for (const mode of [0o604, 0o620, 0o644, 0o602, 0o777]) {
    await chmod(options.defaultFile, mode);
    t.throws(() => loadMasterKeys(options), /chmod 600/, mode.toString(8));
  }
  for (const mode of [0o400, 0o440, 0o640]) {
    await chmod(options.defaultFile, mode);
    t.ok(loadMasterKeys(options));
  }
});

test("an invalid key file is refused", async (t) => {
  const options = await inDirectory(t);
  for (const text of [
    "",
    "x",
    randomBytes(31).toString("base64"),
    randomBytes(33).toString("base64"),
    `${newText()}x`,
    "A".repeat(43),
  ]) {
    await writeFile(options.defaultFile, text, { mode: 0o600 });
    t.throws(() => loadMasterKeys(options), /expected 32 bytes in base64/);
  }
  await rm(options.defaultFile);
  await mkdir(options.defaultFile);
  t.throws(() => loadMasterKeys(options), /is not a key file/);
});

test("gateways that start at once all have the same key", async (t) => {
  const options = await inDirectory(t);
  const module = new URL("../../../server/crypto/master-keys.ts", import.meta.url).href;
  const program = `
    const { parentPort, workerData } = require("node:worker_threads");
    import(workerData.module).then(({ loadMasterKeys }) =>
      parentPort.postMessage(loadMasterKeys(workerData.options).current.fingerprint));`;
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

test("a source may have several keys, of which the last is the newest", async (t) => {
  const [first, second, third] = [newText(), newText(), newText()];
  const options = await inDirectory(t);
  await writeFile(options.defaultFile, `${first}\n\n  ${second}\r\n`, { mode: 0o600 });
  const keys = loadMasterKeys(options);
  t.same(keys.fingerprints, [first, second].map(fingerprintOf));
  t.equal(keys.newest.fingerprint, fingerprintOf(second));
  t.equal(keys.current, keys.newest, "a new store is created with it");
  keys.use(fingerprintOf(first));
  t.equal(keys.current.fingerprint, fingerprintOf(first));
  t.throws(() => keys.use(fingerprintOf(third)), /does not have the master key/);

  await t.test("they can be read again", async (t) => {
    await writeFile(options.defaultFile, `${second}\n${third}\n`);
    keys.reload();
    t.equal(keys.newest.fingerprint, fingerprintOf(third));
    t.equal(keys.current.fingerprint, fingerprintOf(first), "the key in use stays");
    t.ok(keys.find(fingerprintOf(first)), "a key that was removed is known until the process ends");
    for (const text of [`${third}\n${third.slice(0, 20)}`, "", "\n"]) {
      await writeFile(options.defaultFile, text);
      t.throws(() => keys.reload(), /expected 32 bytes in base64/);
      t.equal(keys.newest.fingerprint, fingerprintOf(third), "a source that cannot be read changes nothing");
    }
  });
});

test("a key that is repeated is refused with its lines", async (t) => {
  const [first, second] = [newText(), newText()];
  t.throws(
    () => masterKeysFromText(`${first}\n${second}\n\n${first}\n`, "/etc/key"),
    new Error("/etc/key, line 4: repeats the key of line 1: remove one of them"),
  );
  t.throws(
    () => masterKeysFromText(`${first}\n${second.slice(1)}`, "/etc/key"),
    /^\/etc\/key, line 2: expected/,
  );
});
