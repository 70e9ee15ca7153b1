import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import { createPodmanSandbox } from "../../../../adapters/podman/sandbox.ts";
import { PodState, PublicAPI } from "../../../../gen/v1alpha/api_pb.ts";
import { methodRuleOf } from "../../../../server/gateway/method-rules.ts";
import { containerOf, createReadersUnderTest, idOf, imageOf, podOf, runtimeOf } from "./pods-under-test.ts";

const { getInfo, listPods, inspectPod, listImages, inspectImage } = PublicAPI.method;

const pod = podOf("aaaa", {
  labels: new Map([["role", "web"]]),
  containers: [containerOf("server")],
  document: '{"Name":"é"}',
});
const broken = podOf("cccc");
const state = {
  pods: [pod, podOf("bbbb", { phase: "exited" })],
  unreadable: [{ podId: broken.id, podUuid: broken.uuid, why: "it is being removed" }],
  images: [imageOf("1a", { names: ["localhost/web:2.0"], document: '{"Id":"1"}' }), imageOf("2b")],
};

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test("pods are ordered by id, without apps and manifest unless details are requested", async (t) => {
  const { call } = createReadersUnderTest(runtimeOf(t, state));
  const brief = await call(listPods);
  t.same(
    brief.message.pods.map(({ id }) => id),
    state.pods.map(({ uuid }) => uuid),
  );
  t.ok(brief.message.pods.every(({ apps, manifest }) => apps.length === 0 && manifest.length === 0));
  t.match(brief.message.pods[0], { state: PodState.RUNNING, annotations: [{ Key: "role", value: "web" }] });
  t.match(brief.headers.get("hostplane-snapshot-age"), /^\d+$/);
  const { message } = await call(listPods, { detail: true });
  t.match(message.pods[0]?.apps, [{ name: "server", image: { baseFormat: { version: "v1" } } }]);
  t.equal(textOf(message.pods[0]?.manifest ?? new Uint8Array()), '{"Name":"é"}');
});

test("a filter sees all details whether they are returned or not", async (t) => {
  const { call } = createReadersUnderTest(runtimeOf(t, state));
  for (const detail of [false, true]) {
    const { message } = await call(listPods, { filters: [{ appNames: ["server"] }], detail });
    t.match(message.pods, [{ id: pod.uuid }]);
    t.equal(message.pods.length, 1);
  }
});

test("a single pod is returned with all details, by a case-insensitive prefix of its id", async (t) => {
  const { call } = createReadersUnderTest(runtimeOf(t, state));
  const { message, headers, resource } = await call(inspectPod, { id: "AAA" });
  t.match(message.pod, { id: pod.uuid, apps: [{ name: "server" }] });
  t.equal(textOf(message.pod?.manifest ?? new Uint8Array()), '{"Name":"é"}');
  t.match(headers.get("hostplane-snapshot-age"), /^\d+$/);
  t.equal(resource, `pods/${pod.uuid}`);
  const refusal = (reason: string) => ({ name: "InfraError", reason });
  await t.rejects(call(inspectPod), refusal("INVALID_FIELD"));
  await t.rejects(call(inspectPod, { id: "d" }), refusal("POD_NOT_FOUND"));
  await t.rejects(call(inspectPod, { id: pod.name }), refusal("POD_NOT_FOUND"), "rkt had no names");
  await t.rejects(call(inspectPod, { id: "cc" }), refusal("PODMAN_FAILED"));
});

test("images are ordered by id, with the observed times of their import", async (t) => {
  const importedAtNs = (id: string) => (id === idOf("1a") ? 1_800_000_000_500_000_000n : undefined);
  const { call } = createReadersUnderTest(runtimeOf(t, state), importedAtNs);
  const { message } = await call(listImages);
  t.match(message.images, [
    { id: idOf("1a"), name: "localhost/web", version: "2.0", importTimestamp: 1_800_000_000n },
    { id: idOf("2b"), name: "", importTimestamp: 1_700_000_000n },
  ]);
  t.ok(message.images.every(({ manifest }) => manifest.length === 0));
  const late = await call(listImages, { filters: [{ importedAfter: 1_750_000_000n }], detail: true });
  t.equal(late.message.images.length, 1);
  t.equal(textOf(late.message.images[0]?.manifest ?? new Uint8Array()), '{"Id":"1"}');
});

test("a single image is returned with all details, by its full id", async (t) => {
  const { call } = createReadersUnderTest(runtimeOf(t, state));
  const { message, resource } = await call(inspectImage, { id: `sha256:${idOf("1a")}` });
  t.equal(textOf(message.image?.manifest ?? new Uint8Array()), '{"Id":"1"}');
  t.equal(resource, `images/${idOf("1a")}`);
  await t.rejects(call(inspectImage, { id: "1a" }), { name: "InfraError", reason: "IMAGE_NOT_FOUND" });
});

test("while the runtime is unavailable every call fails with that reason", async (t) => {
  const runtime = createPodmanSandbox();
  t.teardown(() => runtime.close());
  const { call } = createReadersUnderTest(runtime);
  t.match((await call(getInfo)).message.info, { rktVersion: "0.0.0-sandbox" });
  runtime.setOutage(new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "it is stopped"));
  for (const method of [getInfo, listPods, inspectPod, listImages, inspectImage]) {
    await t.rejects(call(method), { name: "InfraError", reason: "PODMAN_UNAVAILABLE" }, method.name);
  }
});

test("calls that return manifests require the role operator, others viewer", async (t) => {
  t.equal(methodRuleOf(getInfo).role, "viewer");
  for (const method of [listPods, inspectPod, listImages, inspectImage]) {
    t.match(methodRuleOf(method), { role: "operator", mutation: false }, method.name);
  }
});
