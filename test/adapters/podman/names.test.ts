import fc from "fast-check";
import { test } from "tap";
import { assertStep } from "../../../adapters/podman/assert-step.ts";
import { commandOf } from "../../../adapters/podman/commands.ts";
import { assertImageReference, assertRuntimeId } from "../../../adapters/podman/names.ts";
import { reasonOfCall } from "../host/reason-of.ts";

const id = "0123456789abcdef".repeat(4);

test("an image is pulled by its full name only", async (t) => {
  for (const reference of [
    "docker.io/library/busybox:1.35",
    "localhost/lab/busybox:1",
    "localhost:5000/app",
    "registry.example:443/a/b-c/d_e:v1.0-rc.1",
    `quay.io/org/app@sha256:${id}`,
    "10.0.0.1/app:1",
  ]) {
    t.equal(await reasonOfCall(() => assertImageReference(reference, "reference")), undefined, reference);
  }
  for (const reference of [
    "",
    "busybox",
    "library/busybox:1",
    "dir:/etc",
    "docker-archive:/etc/passwd",
    "oci:/tmp/x:1",
    "docker://docker.io/library/busybox",
    "docker.io/Library/busybox",
    "docker.io/library/busybox:1 --all",
    "docker.io/library/../busybox",
    "docker.io//busybox",
    `docker.io/${"a".repeat(600)}`,
    "docker.io/busybox?x=1",
  ]) {
    t.equal(
      await reasonOfCall(() => assertImageReference(reference, "reference")),
      "INVALID_FIELD",
      reference,
    );
  }
});

test("only valid ids are used in a path", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f/.]{60,70}$/)), async (text) => {
      const reason = await reasonOfCall(() => assertRuntimeId(text, "podId"));
      return reason === (/^[0-9a-f]{64}$/.test(text) ? undefined : "INVALID_FIELD");
    }),
  );
});

test("rejects impossible steps", async (t) => {
  for (const step of [
    { kind: "stopPod", podId: id, graceSeconds: -1 },
    { kind: "stopPod", podId: id, graceSeconds: 1.5 },
    { kind: "stopPod", podId: id, graceSeconds: 4_000 },
    { kind: "killPod", podId: id, signal: "KILL&all=true" },
    { kind: "removeImage", imageId: "busybox", force: true },
    { kind: "removePod", podId: "../images/prune", force: true },
  ] as const) {
    t.equal(await reasonOfCall(() => assertStep(step)), "INVALID_FIELD", step.kind);
  }
});

test("a step is shown as Podman's request", async (t) => {
  t.strictSame(commandOf({ kind: "startPod", podId: id }), ["POST", `pods/${id}/start`]);
  t.strictSame(commandOf({ kind: "stopPod", podId: id, graceSeconds: 10 }), ["POST", `pods/${id}/stop?t=10`]);
  t.strictSame(commandOf({ kind: "killPod", podId: id, signal: "SIGTERM" }), [
    "POST",
    `pods/${id}/kill?signal=SIGTERM`,
  ]);
  t.strictSame(commandOf({ kind: "removePod", podId: id, force: true }), ["DELETE", `pods/${id}?force=true`]);
  t.strictSame(commandOf({ kind: "pullImage", reference: "quay.io/a/b:1" }), [
    "POST",
    "images/pull?reference=quay.io%2Fa%2Fb%3A1",
  ]);
  t.strictSame(commandOf({ kind: "removeImage", imageId: id, force: false }), [
    "DELETE",
    `images/${id}?force=false`,
  ]);
});
