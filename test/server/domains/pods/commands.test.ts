import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import {
  ListPodsResponseSchema,
  PodContainerState,
  PodSchema,
  PodState,
} from "../../../../gen/hostplane/v1/pod_pb.ts";
import { podNoun } from "../../../../server/domains/pods/commands.ts";
import { printed } from "../../cli/printed.ts";

const pod = create(PodSchema, {
  id: "a1",
  name: "web",
  state: PodState.RUNNING,
  createdAt: timestampFromMs(0),
  containers: [
    { name: "server", state: PodContainerState.RUNNING, imageName: "localhost/app:1", id: "c1" },
    { name: "job", state: PodContainerState.EXITED, exitCode: 3, id: "c2" },
  ],
  networks: [{ name: "podman", ipv4: "10.88.0.2", ipv6: "" }],
  labels: { role: "web", "\u001b[31m": "red" },
});

test("a pod is formatted as a table row and as a page", async (t) => {
  const one = create(ListPodsResponseSchema, { pods: [pod] });
  t.same((await printed(podNoun, "show", one, { values: { pod: "web" } })).out, [
    "id       a1",
    "name     web",
    "state    running",
    "created  1970-01-01T00:00:00.000Z",
    "network  podman 10.88.0.2",
    "label    role=web",
    "label    \ufffd[31m=red",
    "",
    "CONTAINER  STATE     IMAGE            STARTED  EXITED  ID",
    "server     running   localhost/app:1                   c1",
    "job        exited 3                                    c2",
  ]);
  const answer = create(ListPodsResponseSchema, {
    pods: [pod],
    unreadable: [{ id: "b", reason: "half\ngone" }],
  });
  const list = await printed(podNoun, "list", answer);
  t.same(list.out, [
    "ID  NAME  STATE    CONTAINERS                    STARTED",
    "a1  web   running  server running, job exited 3",
  ]);
  t.same(list.err, ["pod b is unreadable: half gone"]);
  const json = await printed(podNoun, "list", answer, { format: "json" });
  t.match(JSON.parse(json.out.join("\n")), [{ id: "a1", name: "web", state: "POD_STATE_RUNNING" }]);
  t.same((await printed(podNoun, "list", answer, { format: "name" })).out, ["a1"]);
  const yaml = await printed(podNoun, "show", one, { format: "yaml", values: { pod: "a1" } });
  t.same(yaml.out.slice(0, 3), ["id: a1", "name: web", "state: POD_STATE_RUNNING"]);
});

test("watching prints the pods that are new, changed or gone", (t) => {
  const other = create(PodSchema, { id: "b1", name: "other", state: PodState.CREATED });
  const ended = { ...pod, state: PodState.EXITED };
  const linesOf = podNoun.commands.find(({ name }) => name === "list")?.watch?.createLines();
  t.same(linesOf?.({ pods: [pod, other] }), [
    "a1 web running: server running, job exited 3",
    "b1 other created",
  ]);
  t.same(linesOf?.({ pods: [pod, other] }), []);
  t.same(linesOf?.({ pods: [ended] }), ["a1 web exited: server running, job exited 3", "b1 other removed"]);
  t.end();
});
