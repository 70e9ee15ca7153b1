import { test } from "tap";
import { appImage, createSubject } from "./changes-under-test.ts";

test("a dry run describes the call, its changes and its losses, and changes nothing", async (t) => {
  const { runtime, changes, pod, image } = await createSubject(t);
  const before = await runtime.read();
  const { id, uuid } = await pod("web");
  const { containers } = before.value.pods.find((one) => one.uuid === uuid) ?? { containers: [] };
  const facts = [
    { resource: `pods/${uuid}`, name: "id", value: id },
    {
      resource: `pods/${uuid}`,
      name: "containers",
      value: containers.map((one) => `${one.name} ${one.id} up`).join(", "),
    },
  ];
  const common = { resource: `pods/${uuid}`, backend: "sandbox-podman/alpha", pointOfNoReturn: 1 };
  t.same(await changes.plan("startPod", { pod: "web" }), {
    ...common,
    kind: "pods.start",
    plan: { changes: [], losses: [], facts },
    steps: [
      { name: "check", command: [] },
      { name: "start", command: ["POST", `pods/${id}/start`] },
    ],
  });
  t.match(await changes.plan("startPod", { pod: "new" }), {
    plan: { changes: ["pod new is started with idle"], losses: [] },
  });
  t.same(await changes.plan("stopPod", { pod: "web", graceSeconds: 30 }), {
    ...common,
    kind: "pods.stop",
    plan: {
      changes: ["pod web is stopped: server, proxy asked to exit, and killed after 30 seconds"],
      losses: [],
      facts,
    },
    steps: [
      { name: "check", command: [] },
      { name: "stop", command: ["POST", `pods/${id}/stop?t=30`] },
    ],
  });
  t.match(await changes.plan("killPod", { pod: "web" }), {
    plan: { losses: ["unsaved data of server, proxy"] },
    steps: [
      { name: "check", command: [] },
      { name: "signal", command: ["POST", `pods/${id}/kill?signal=SIGKILL`] },
    ],
  });
  t.match(await changes.plan("removePod", { pod: "web", force: true }), {
    plan: {
      changes: ["pod web is removed with server, proxy"],
      losses: ["work in progress of server, proxy", /^data that server, proxy wrote /],
    },
    steps: [
      { name: "check", command: [] },
      { name: "remove", command: ["DELETE", `pods/${id}?force=true`] },
    ],
  });
  t.match(await changes.plan("pullImage", { reference: appImage }), {
    resource: `images/${appImage}`,
    plan: {
      changes: [/^localhost\/test\/app:1, currently [0-9a-f]{64}, is updated to the registry's version$/],
    },
    steps: [{ name: "pull", command: ["POST", "images/pull?reference=localhost%2Ftest%2Fapp%3A1"] }],
  });
  t.match(await changes.plan("pullImage", { reference: "docker.io/library/x" }), {
    resource: "images/docker.io/library/x:latest",
    plan: { changes: ["image docker.io/library/x is pulled to this host"] },
  });
  t.match(await changes.plan("removeImage", { image: appImage, force: true }), {
    resource: `images/${await image(appImage)}`,
    plan: {
      changes: [/^the image localhost\/test\/app:1, [0-9a-f]{64} is removed$/],
      losses: [/ of pod (web|new), with their work/, / of pod (web|new), with their work/],
    },
  });
  t.same((await runtime.read()).value, before.value);
});
