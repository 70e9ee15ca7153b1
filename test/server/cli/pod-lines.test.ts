import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import {
  ListPodsResponseSchema,
  PodContainerState,
  PodSchema,
  PodState,
} from "../../../gen/hostplane/v1/pod_pb.ts";
import { changedPodLines, podLines, podListJson, podListLines } from "../../../server/commands/pod-lines.ts";

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

test("a pod is formatted as a table row and as a page", (t) => {
  t.same(podLines(pod), [
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
  t.same(podListLines(answer), [
    "ID  NAME  STATE       CONTAINERS                    STARTED",
    "a1  web   running     server running, job exited 3",
    "b         unreadable  half gone",
  ]);
  t.match(JSON.parse(podListJson(answer)), {
    pods: [{ id: "a1", name: "web", state: "POD_STATE_RUNNING" }],
    unreadable: [{ id: "b", reason: "half\ngone" }],
  });
  t.end();
});

test("watching prints the pods that are new, changed or gone", (t) => {
  const other = create(PodSchema, { id: "b1", name: "other", state: PodState.CREATED });
  const ended = { ...pod, state: PodState.EXITED };
  t.same(changedPodLines([], [pod, other]), [
    "a1 web running: server running, job exited 3",
    "b1 other created",
  ]);
  t.same(changedPodLines([pod, other], [pod, other]), []);
  t.same(changedPodLines([pod, other], [ended]), [
    "a1 web exited: server running, job exited 3",
    "b1 other removed",
  ]);
  t.end();
});
