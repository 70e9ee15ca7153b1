import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { libvirtReasons } from "../../../adapters/libvirt/reasons.ts";
import type {
  Repository,
  ResticAdapter,
  TransferOptions,
  Transferred,
} from "../../../adapters/restic/adapter.ts";
import { operationReasons } from "../../../server/operations/reasons.ts";
import { reasonOf } from "../host/reason-of.ts";

/** An adapter to test, with an empty location for a repository and two devices of `sizeBytes`. */
export interface ContractSubject {
  readonly restic: ResticAdapter;
  readonly repository: Repository;
  readonly source: string;
  readonly target: string;
  readonly sizeBytes: number;
  /** Creates the repository faster than `ensureRepository`. */
  readonly prepare?: () => Promise<void>;
}

/** Returns options of a transfer that is not stopped. */
export function transferOptions(more: Partial<TransferOptions> = {}): TransferOptions {
  return { signal: new AbortController().signal, onProgress: () => {}, token: crypto.randomUUID(), ...more };
}

const absentId = "deadbeef".repeat(8);

/** Registers the tests that every ResticAdapter must pass. A new subject is created for each. */
export function testResticContract(
  kind: string,
  makeSubject: (t: Test) => Promise<ContractSubject>,
  skip: string | false = false,
): void {
  function contractTest(behaviour: string, body: (t: Test, subject: Subject) => Promise<void>): void {
    test(`${kind}: ${behaviour}`, { skip }, async (t) => {
      const subject = await makeSubject(t);
      t.teardown(() => subject.restic.close());
      await body(t, withSteps(subject));
    });
  }

  contractTest(
    "a repository is created once, even by concurrent calls",
    async (t, { restic, repository }) => {
      const { signal } = new AbortController();
      t.equal(await reasonOf(restic.list(repository, [], signal)), "REPOSITORY_NOT_FOUND");
      await Promise.all(Array.from({ length: 3 }, () => restic.ensureRepository(repository, signal)));
      await restic.ensureRepository(repository, signal);
      t.strictSame(await restic.list(repository, [], signal), []);
    },
  );

  contractTest("everything fails without a repository", async (t, subject) => {
    const { restic, repository, source, target, sizeBytes } = subject;
    const { signal } = new AbortController();
    const snapshot = { id: absentId, fileName: "data", sizeBytes };
    const calls = [
      restic.list(repository, [], signal),
      restic.backup(repository, { device: source, sizeBytes, fileName: "data", tags: [] }, transferOptions()),
      restic.sizeOf(repository, absentId, signal),
      restic.restore(repository, snapshot, target, transferOptions()),
      lengthOf(restic.read(repository, snapshot, transferOptions())),
      restic.verify(repository, snapshot, transferOptions()),
      restic.forget(repository, [absentId], transferOptions()),
      restic.expired(repository, ["a"], { last: 1, daily: 0, weekly: 0 }, signal),
    ];
    const reasons = await Promise.all(calls.map(reasonOf));
    t.strictSame(reasons, Array(calls.length).fill("REPOSITORY_NOT_FOUND"));
  });

  contractTest("the wrong password opens nothing and creates nothing", async (t, subject) => {
    const { restic, repository, backup } = await subject.created();
    const wrong = { ...repository, password: "not the one" };
    const id = await backup(["a"]);
    const { signal } = new AbortController();
    t.equal(await reasonOf(restic.ensureRepository(wrong, signal)), "REPOSITORY_KEY_WRONG");
    t.equal(await reasonOf(restic.list(wrong, [], signal)), "REPOSITORY_KEY_WRONG");
    t.equal(await reasonOf(restic.forget(wrong, [id], transferOptions())), "REPOSITORY_KEY_WRONG");
    t.equal((await restic.list(repository, [], signal)).length, 1);
  });

  contractTest("a backup is listed under its tags, and can be restored and verified", async (t, subject) => {
    const { restic, repository, backup, target, sizeBytes } = await subject.created();
    const startedAtMs = Date.now();
    const id = await backup(["volume=data", "name=nightly"]);
    t.match(id, /^[0-9a-f]{64}$/);
    const { signal } = new AbortController();
    const [snapshot, ...others] = await restic.list(repository, ["name=nightly", "volume=data"], signal);
    t.match(snapshot, { id, fileName: "data", tags: ["volume=data", "name=nightly"] });
    t.type(snapshot?.hostname, "string");
    t.ok(Math.abs((snapshot?.atMs ?? 0) - startedAtMs) < 60_000);
    t.strictSame(others, []);
    t.strictSame(await restic.list(repository, ["volume=data", "name=other"], signal), []);
    t.equal(await restic.sizeOf(repository, id, signal), sizeBytes);
    const spec = { id, fileName: "data", sizeBytes };
    t.equal(await restic.verify(repository, spec, transferOptions()), sizeBytes);
    await restic.restore(repository, spec, target, transferOptions());
  });

  contractTest("stores a source read in pieces, with or without a known size", async (t, subject) => {
    const { restic, repository } = await subject.created();
    const { signal } = new AbortController();
    const pieceBytes = 100_000;
    for (const sizeBytes of [12 * pieceBytes, undefined]) {
      const reported: Transferred[] = [];
      const options = transferOptions({ onProgress: (transferred) => reported.push(transferred) });
      const source = { content: pieces(12, pieceBytes), sizeBytes, fileName: "data", tags: ["a"] };
      const id = await restic.backup(repository, source, options);
      t.equal(await restic.sizeOf(repository, id, signal), 12 * pieceBytes);
      const totalBytes = sizeBytes === undefined ? {} : { totalBytes: sizeBytes };
      t.strictSame(reported.at(-1), { doneBytes: 12 * pieceBytes, ...totalBytes });
      const spec = { id, fileName: "data", sizeBytes: 12 * pieceBytes };
      t.equal(await restic.verify(repository, spec, transferOptions()), 12 * pieceBytes);
    }
  });

  contractTest("a source that cannot be read to its end leaves no snapshot", async (t, subject) => {
    const { restic, repository } = await subject.created();
    const { signal } = new AbortController();
    const inUse = new InfraError(libvirtReasons.DOMAIN_STATE, "another process writes to it");
    const store = (content: AsyncIterable<Uint8Array>, sizeBytes: number | undefined, stop = signal) => {
      const source = { content, sizeBytes, fileName: "data", tags: ["a"] };
      return reasonOf(restic.backup(repository, source, transferOptions({ signal: stop })));
    };
    t.equal(await store(pieces(3, 1_000), 3_001), "TOOL_FAILED", "too short");
    t.equal(await store(pieces(3, 1_000), 2_999), "TOOL_FAILED", "too long");
    t.equal(await store(pieces(3, 1_000, inUse), 3_000), "DOMAIN_STATE", "the source's own error");
    t.equal(await store(pieces(3, 1_000, inUse), undefined), "DOMAIN_STATE");
    t.equal(await store(pieces(3, 1_000, new Error("whatever")), undefined), "TOOL_FAILED");
    const stop = new AbortController();
    async function* stuck(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(1_000);
      stop.abort(new InfraError(operationReasons.OPERATION_CANCELLED, "by the test"));
      await new Promise(() => {});
    }
    t.equal(await store(stuck(), undefined, stop.signal), "OPERATION_CANCELLED");
    t.strictSame(await restic.list(repository, ["a"], signal), []);
  });

  contractTest("reads a snapshot in pieces, at the reader's pace", async (t, subject) => {
    const { restic, repository, backup, sizeBytes } = await subject.created();
    const id = await backup(["a"]);
    const reported: Transferred[] = [];
    const read = (more: object = {}, options: Partial<TransferOptions> = {}) =>
      restic.read(repository, { id, fileName: "data", sizeBytes, ...more }, transferOptions(options));
    t.equal(await lengthOf(read({}, { onProgress: (transferred) => reported.push(transferred) })), sizeBytes);
    t.strictSame(reported.at(-1), { doneBytes: sizeBytes, totalBytes: sizeBytes });
    const refusals = [
      [{ sizeBytes: sizeBytes + 1 }, "BACKUP_DAMAGED"],
      [{ sizeBytes: sizeBytes - 1 }, "BACKUP_DAMAGED"],
      [{ fileName: "other" }, "BACKUP_NOT_FOUND"],
      [{ id: absentId }, "BACKUP_NOT_FOUND"],
      [{ id: "latest" }, "INVALID_FIELD"],
      [{ fileName: "a/b" }, "INVALID_FIELD"],
    ] as const;
    for (const [more, reason] of refusals) {
      t.equal(await reasonOf(lengthOf(read(more))), reason);
    }
    for await (const piece of read()) {
      t.ok(piece.length > 0, "leaving the loop stops it");
      break;
    }
    const stop = new AbortController();
    const stopped = async () => {
      for await (const _ of read({}, { signal: stop.signal })) {
        stop.abort(new InfraError(operationReasons.OPERATION_CANCELLED, "by the test"));
      }
    };
    t.equal(await reasonOf(stopped()), "OPERATION_CANCELLED");
  });

  contractTest("transfers report their progress up to the end", async (t, subject) => {
    const { restic, repository, source, target, sizeBytes } = await subject.created();
    const steps = {
      backup: [] as Transferred[],
      restore: [] as Transferred[],
      verify: [] as Transferred[],
    };
    const reportsOf = (step: keyof typeof steps) =>
      transferOptions({ onProgress: (transferred) => steps[step].push(transferred) });
    const spec = { device: source, sizeBytes, fileName: "data", tags: ["a"] };
    const id = await restic.backup(repository, spec, reportsOf("backup"));
    await restic.restore(repository, { ...spec, id }, target, reportsOf("restore"));
    await restic.verify(repository, { ...spec, id }, reportsOf("verify"));
    for (const [step, reported] of Object.entries(steps)) {
      t.strictSame(reported.at(-1), { doneBytes: sizeBytes, totalBytes: sizeBytes }, step);
      const places = reported.map(({ doneBytes }) => doneBytes);
      t.strictSame(
        places,
        places.toSorted((a, b) => a - b),
        step,
      );
    }
  });

  contractTest("a snapshot must have the expected file and size", async (t, subject) => {
    const { restic, repository, backup, target, sizeBytes } = await subject.created();
    const id = await backup([]);
    const { signal } = new AbortController();
    const absent = { id: absentId, fileName: "data", sizeBytes };
    t.equal(await reasonOf(restic.sizeOf(repository, absentId, signal)), "BACKUP_NOT_FOUND");
    t.equal(
      await reasonOf(restic.restore(repository, absent, target, transferOptions())),
      "BACKUP_NOT_FOUND",
    );
    t.equal(await reasonOf(restic.verify(repository, absent, transferOptions())), "BACKUP_NOT_FOUND");
    const other = { id, fileName: "other", sizeBytes };
    t.equal(await reasonOf(restic.verify(repository, other, transferOptions())), "BACKUP_NOT_FOUND");
    const larger = { id, fileName: "data", sizeBytes: sizeBytes + 1 };
    t.equal(await reasonOf(restic.verify(repository, larger, transferOptions())), "BACKUP_DAMAGED");
    t.equal(await reasonOf(restic.restore(repository, larger, target, transferOptions())), "BACKUP_DAMAGED");
  });

  contractTest("forgotten snapshots are gone, and may be forgotten again", async (t, subject) => {
    const { restic, repository, backup } = await subject.created();
    const ids = [await backup(["a"]), await backup(["a"]), await backup(["b"])];
    const { signal } = new AbortController();
    const listed = async () => (await restic.list(repository, [], signal)).map(({ id }) => id);
    t.strictSame(await listed(), ids, "oldest first");
    await restic.forget(repository, ids.slice(0, 2), transferOptions());
    t.strictSame(await listed(), ids.slice(2));
    await restic.forget(repository, [...ids.slice(0, 2), absentId], transferOptions());
    t.strictSame(await listed(), ids.slice(2));
  });

  contractTest("pruning frees the space of unused data, and may be repeated", async (t, subject) => {
    const { restic, repository, backup, sizeBytes } = await subject.created();
    const [gone, kept] = [await backup(["a"]), await backup(["b"])];
    await restic.forget(repository, [gone], transferOptions());
    await restic.prune(repository, transferOptions());
    await restic.prune(repository, transferOptions());
    t.equal(
      await restic.verify(repository, { id: kept, fileName: "data", sizeBytes }, transferOptions()),
      sizeBytes,
    );
  });

  contractTest(
    "a policy keeps the newest snapshots of its tags, and one of zeros keeps all",
    async (t, subject) => {
      const { restic, repository, backup } = await subject.created();
      const ids = [
        await backup(["a", "x"]),
        await backup(["a"]),
        await backup(["a", "x"]),
        await backup(["b"]),
      ];
      const { signal } = new AbortController();
      const expired = async (tags: string[], last: number, daily = 0, weekly = 0) =>
        (await restic.expired(repository, tags, { last, daily, weekly }, signal)).toSorted();
      t.strictSame(await expired(["a"], 1), [ids[0], ids[1]].toSorted());
      t.strictSame(await expired(["a", "x"], 1), [ids[0]]);
      t.strictSame(await expired(["a"], 3), []);
      t.strictSame(await expired(["a"], 0), []);
      t.strictSame(await expired(["nobody"], 1), []);
      t.ok((await expired(["a"], 0, 1)).length >= 1);
      t.equal(await reasonOf(expired([], 1)), "INVALID_FIELD", "without tags it would include all snapshots");
      t.equal((await restic.list(repository, [], signal)).length, ids.length, "nothing was removed");
    },
  );

  contractTest("a stopped transfer ends with the reason, and leaves no snapshot", async (t, subject) => {
    const { restic, repository, source, sizeBytes, backup, target } = await subject.created();
    const id = await backup([]);
    const cancelled = new InfraError(operationReasons.OPERATION_CANCELLED, "by the test");
    for (const step of ["backup", "restore", "verify", "prune"] as const) {
      const controller = new AbortController();
      const options = transferOptions({ signal: controller.signal });
      const spec = { id, fileName: "data", sizeBytes };
      const running = {
        backup: () =>
          restic.backup(repository, { device: source, sizeBytes, fileName: "data", tags: ["a"] }, options),
        restore: () => restic.restore(repository, spec, target, options),
        verify: () => restic.verify(repository, spec, options),
        prune: () => restic.prune(repository, options),
      }[step]();
      const reason = reasonOf(running);
      setTimeout(() => controller.abort(cancelled), 20);
      t.equal(await reason, "OPERATION_CANCELLED", step);
    }
    const { signal } = new AbortController();
    t.strictSame(await restic.list(repository, ["a"], signal), []);
    t.equal(
      await reasonOf(restic.list(repository, [], AbortSignal.abort(cancelled))),
      restic.kind === "real" ? "OPERATION_CANCELLED" : undefined,
    );
  });

  contractTest("rejects input that restic could misinterpret", async (t, subject) => {
    const { restic, repository, source, sizeBytes } = await subject.created();
    const { signal } = new AbortController();
    const spec = { device: source, sizeBytes, fileName: "data", tags: [] };
    const s3 = (endpoint: string, path: string): Repository => ({
      ...repository,
      location: { kind: "s3", endpoint, path },
      access: { accessKeyId: "a", secretAccessKey: "b" },
    });
    const bad: Promise<unknown>[] = [
      restic.ensureRepository({ ...repository, location: { kind: "local", path: "sftp:host:/x" } }, signal),
      restic.ensureRepository(s3("rest:http://localhost:1", "bucket"), signal),
      restic.ensureRepository(s3("http://localhost:1", "bucket/../other"), signal),
      restic.ensureRepository({ ...repository, password: "" }, signal),
      restic.backup(repository, { ...spec, fileName: "a/b" }, transferOptions()),
      restic.backup(repository, { ...spec, tags: ["a,b"] }, transferOptions()),
      restic.list(repository, ["--json"], signal).then(() => restic.list(repository, [""], signal)),
      restic.sizeOf(repository, "latest", signal),
      restic.verify(repository, { id: "--help", fileName: "data", sizeBytes }, transferOptions()),
      restic.forget(repository, ["--prune"], transferOptions()),
    ];
    t.strictSame(await Promise.all(bad.map(reasonOf)), Array(bad.length).fill("INVALID_FIELD"));
  });

  contractTest("its commands can be shown, and inspection never throws", async (t, { restic }) => {
    for (const [step, word] of [
      ["backup", "backup"],
      ["restore", "dump"],
      ["forget", "forget"],
      ["prune", "prune"],
    ] as const) {
      t.ok(restic.commandOf(step).includes(word));
    }
    const { version, findings } = await restic.inspect();
    t.type(version, "string");
    t.ok(findings.every(({ ok, fix }) => ok || fix !== undefined));
    await restic.settle(crypto.randomUUID());
  });
}

async function lengthOf(content: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
  }
  return bytes;
}

/** Yields `count` pieces, then ends or fails. */
async function* pieces(count: number, pieceBytes: number, failure?: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at += 1) {
    yield Buffer.alloc(pieceBytes, at);
  }
  if (failure !== undefined) {
    throw failure;
  }
}

interface Subject extends ContractSubject {
  /** Creates the repository and returns the subject. */
  created(): Promise<Subject>;
  /** Backs up the source as `data`. */
  backup(tags: readonly string[]): Promise<string>;
}

function withSteps(plain: ContractSubject): Subject {
  const { restic, repository, source, sizeBytes } = plain;
  const subject: Subject = {
    ...plain,
    async created() {
      await plain.prepare?.();
      await restic.ensureRepository(repository, new AbortController().signal);
      return subject;
    },
    backup: (tags) =>
      restic.backup(repository, { device: source, sizeBytes, fileName: "data", tags }, transferOptions()),
  };
  return subject;
}
