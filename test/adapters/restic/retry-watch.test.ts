import { setTimeout as sleep } from "node:timers/promises";
import { test } from "tap";
import type { InfraError } from "../../../adapters/host/infra-error.ts";
import { createRetryWatch } from "../../../adapters/restic/retry-watch.ts";

const refused = "dial tcp 127.0.0.1:18333: connect: connection refused";

function retry(words: string): Buffer {
  return Buffer.from(`Save(<data/4e05a62466>) returned error, retrying after 552.330144ms: ${words}\n`);
}

function watch(patienceMs: number) {
  const errors: InfraError[] = [];
  const redact = (text: string) => text.replaceAll("sesame", "[secret]");
  return { errors, ...createRetryWatch(patienceMs, redact, (error) => errors.push(error)) };
}

test("gives up retries after too long", async (t) => {
  const { errors, add } = watch(50);
  add(retry(`sesame: ${refused}`));
  t.equal(errors.length, 0);
  await sleep(60);
  add(retry(`sesame: ${refused}`));
  t.match(errors, [{ reason: "REPOSITORY_UNREACHABLE", message: /\[secret\]: dial tcp/ }]);
});

test("progress resets the time", async (t) => {
  const { errors, add, moved } = watch(50);
  add(retry(refused));
  await sleep(60);
  moved();
  add(retry(refused));
  t.strictSame(errors, []);
});

test("refusals and lost connections have their own reasons", async (t) => {
  const denied = watch(60_000);
  denied.add(retry("client.PutObject: Access Denied."));
  t.match(denied.errors, [{ reason: "REPOSITORY_DENIED" }], "at once");
  const cutOff = watch(0);
  cutOff.add(retry('client.PutObject: Put "http://127.0.0.1:1/bucket/data/4e/4e05": EOF'));
  t.match(cutOff.errors, [{ reason: "REPOSITORY_UNREACHABLE" }]);
  const lost = watch(0);
  lost.add(
    Buffer.from(
      "Load(<data/fb6a5afe7b>, 1, 0) returned error, retrying after 1s: The specified key does not exist.\n",
    ),
  );
  t.match(lost.errors, [{ reason: "BACKUP_DAMAGED" }]);
});

test("joins output split into chunks, and ignores other output", async (t) => {
  const { errors, add } = watch(0);
  const bytes = retry(refused);
  add(Buffer.from("Warning: something else\n"));
  add(bytes.subarray(0, 30));
  t.strictSame(errors, []);
  add(bytes.subarray(30));
  t.equal(errors.length, 1);
});
