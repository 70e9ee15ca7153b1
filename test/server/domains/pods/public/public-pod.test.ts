import { test } from "tap";
import { AppState, ImageType, PodState } from "../../../../../gen/v1alpha/api_pb.ts";
import { imagesById } from "../../../../../server/domains/pods/public/public-image.ts";
import { publicPod } from "../../../../../server/domains/pods/public/public-pod.ts";
import { containerOf, idOf, imageOf, podOf } from "../pods-under-test.ts";

const infra = containerOf("infra", { isInfra: true, pid: 41 });
const images = imagesById([imageOf("1a", { format: "docker", formatVersion: "v2" })]);

test("a running pod is returned with all of its fields", async (t) => {
  const app = containerOf("web", { pid: 42, annotations: new Map([["of", "the app"]]) });
  const pod = podOf("abc", {
    startedAtNs: 1_700_000_001_123_456_789n,
    labels: new Map([
      ["a", "1"],
      ["b", ""],
    ]),
    cgroup: "/libpod_parent/abc",
    networks: [{ name: "net", ipv4: "10.0.0.2", ipv6: "fd00::2" }],
    containers: [infra, app],
  });
  t.match(publicPod(pod, images), {
    id: pod.uuid,
    pid: 41,
    state: PodState.RUNNING,
    apps: [
      {
        name: "web",
        image: {
          id: idOf("1a"),
          name: "localhost/web",
          version: "2.0",
          baseFormat: { type: ImageType.DOCKER, version: "v2" },
        },
        state: AppState.RUNNING,
        exitCode: 0,
        annotations: [{ Key: "of", value: "the app" }],
      },
    ],
    networks: [{ name: "net", ipv4: "10.0.0.2", ipv6: "fd00::2" }],
    annotations: [
      { Key: "a", value: "1" },
      { Key: "b", value: "" },
    ],
    cgroup: "/libpod_parent/abc",
    createdAt: 1_700_000_000_000_000_001n,
    startedAt: 1_700_000_001_123_456_789n,
    gcMarkedAt: 0n,
  });
  t.equal(publicPod(pod, images).apps.length, 1, "the infra container is not an app");
});

test("the process id is the infra container's, else the first app's, else -1", async (t) => {
  const pidOf = (...containers: ReturnType<typeof containerOf>[]) =>
    publicPod(podOf("abc", { containers }), images).pid;
  const ended = containerOf("ended", { state: "exited" });
  t.equal(pidOf(containerOf("app", { pid: 42 }), infra), 41);
  t.equal(pidOf(ended, containerOf("app", { pid: 42 })), 42);
  t.equal(pidOf(ended), -1);
  t.equal(pidOf(), -1);
});

test("networks and cgroup are set only while the pod is running, and the cgroup is an absolute path", async (t) => {
  const facts = { cgroup: "machine.slice/a.slice", networks: [{ name: "net", ipv4: "10.0.0.2", ipv6: "" }] };
  const running = publicPod(podOf("abc", { ...facts, phase: "running" }), images);
  t.match(running, { cgroup: "/machine.slice/a.slice", networks: [{}] });
  for (const phase of ["created", "exited", "unknown"] as const) {
    t.match(publicPod(podOf("abc", { ...facts, phase }), images), { cgroup: "", networks: [] }, phase);
  }
  t.equal(publicPod(podOf("abc"), images).cgroup, "");
});

test("every state is mapped", async (t) => {
  const { PREPARED, RUNNING, EXITED, UNDEFINED } = PodState;
  const phases = { created: PREPARED, running: RUNNING, exited: EXITED, unknown: UNDEFINED } as const;
  for (const [phase, state] of Object.entries(phases)) {
    t.equal(publicPod(podOf("abc", { phase: phase as keyof typeof phases }), images).state, state, phase);
  }
  const states = {
    created: AppState.UNDEFINED,
    running: AppState.RUNNING,
    paused: AppState.RUNNING,
    stopping: AppState.RUNNING,
    exited: AppState.EXITED,
    unknown: AppState.UNDEFINED,
  } as const;
  for (const [word, state] of Object.entries(states)) {
    const app = containerOf("app", { state: word as keyof typeof states });
    t.equal(publicPod(podOf("abc", { containers: [app] }), images).apps[0]?.state, state, word);
  }
});

test("an app's exit code is set once it has exited, and its image even after that was removed", async (t) => {
  const image = { id: idOf("2b"), name: "quay.io/gone@sha256:00" };
  const app = containerOf("app", { state: "exited", exitCode: 137, image });
  t.match(publicPod(podOf("abc", { containers: [app] }), images).apps, [
    {
      exitCode: 137,
      image: {
        id: idOf("2b"),
        name: "quay.io/gone",
        version: "",
        baseFormat: { type: ImageType.UNDEFINED, version: "" },
      },
    },
  ]);
});
