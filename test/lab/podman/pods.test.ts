import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { PodService, PodState as TodaysPodState } from "../../../gen/hostplane/v1/pod_pb.ts";
import { AppState, ImageType, type Pod, PodState, PublicAPI } from "../../../gen/v1alpha/api_pb.ts";
import { startGatewayUnderTest } from "../../server/harness/gateway-under-test.ts";
import { rpcErrorOf } from "../../server/harness/rpc-error.ts";
import { labImage, type PodmanService, podmanSkipReason, startPodman } from "./podman.ts";
import { startPodmanGate } from "./podman-gate.ts";
import {
  type InspectedContainer,
  type InspectedImage,
  type InspectedPod,
  keyValuesOf,
  nsFrom,
  uuidOf,
} from "./podman-words.ts";

const skip = podmanSkipReason();
const timeout = 180_000;

/** Fills a Podman with pods in every state, and images with no, one and two names. */
async function fillPodman({ podman }: PodmanService): Promise<void> {
  const network = ["--subnet", "10.89.78.0/24", "--ipv6", "--subnet", "fd78:89::/64"];
  await podman("network", "create", "--disable-dns", ...network, "net");
  const labels = ["--label", "role=web", "--label", "zone=1"];
  await podman("pod", "create", "--name", "web", ...labels, "--network", "net");
  const annotations = ["--annotation", "b=2", "--annotation", "a=1"];
  await podman("run", "-d", "--pod", "web", "--name", "server", ...annotations, labImage, "sleep", "1000");
  await podman("run", "-d", "--pod", "web", "--name", "migration", labImage, "sh", "-c", "exit 7");
  await podman("pod", "create", "--name", "fresh", "--network", "none");
  await podman("create", "--pod", "fresh", "--name", "idle", labImage, "sleep", "1000");
  await podman("pod", "create", "--name", "ended", "--network", "none");
  await podman("run", "-d", "--pod", "ended", "--name", "worker", labImage, "sh", "-c", "exit 300");
  await podman("pod", "create", "--name", "bare", "--infra=false");
  await podman(
    "run",
    "-d",
    "--pod",
    "bare",
    "--name",
    "lonely",
    "--network",
    "none",
    labImage,
    "sleep",
    "1000",
  );
  await podman("pod", "create", "--name", "empty", "--network", "none");
  await podman("pod", "create", "--name", "prepared", "--network", "none");
  await podman("pod", "start", "prepared");
  await podman("create", "--pod", "prepared", "--name", "later", labImage, "sleep", "1000");
  await podman("pod", "create", "--name", "held", "--network", "none");
  await podman("run", "-d", "--pod", "held", "--name", "paused", labImage, "sleep", "1000");
  await podman("pause", "paused");
  await podman("wait", "migration", "worker");

  await podman(
    "commit",
    "-q",
    "--format",
    "docker",
    "--change",
    "LABEL a=b",
    "server",
    "localhost/made/docker:2",
  );
  await podman("commit", "-q", "server", "localhost/made/nameless:1");
  await podman("untag", "localhost/made/nameless:1");
  await podman("tag", labImage, "localhost:5000/other/name");
}

async function inspectAll({ podman }: PodmanService) {
  const json = async (...args: readonly string[]) => JSON.parse(await podman(...args));
  const ids = (await podman("pod", "ps", "-q", "--no-trunc")).trim().split("\n").toSorted();
  const pods: InspectedPod[] = [];
  for (const id of ids) {
    const inspected = await json("pod", "inspect", id);
    const members = (inspected.Containers ?? []) as readonly { Id: string }[];
    const containers: InspectedContainer[] =
      members.length === 0 ? [] : await json("container", "inspect", ...members.map(({ Id }) => Id));
    pods.push({ ...inspected, document: inspected, containers });
  }
  const imageIds = (await podman("images", "-q", "--no-trunc")).trim().split("\n");
  const unique = [...new Set(imageIds.map((id) => id.replace("sha256:", "")))].toSorted();
  const images: readonly InspectedImage[] = await json("image", "inspect", ...unique);
  return { pods, images };
}

/** Returns a pod as it should be listed, from the output of Podman's own program. */
function expectedPod(pod: InspectedPod, images: readonly InspectedImage[]) {
  const inOrder = pod.containers.toSorted((a, b) => (nsFrom(a.Created) < nsFrom(b.Created) ? -1 : 1));
  const apps = inOrder.filter(({ Id }) => Id !== pod.InfraContainerID);
  const infra = inOrder.find(({ Id }) => Id === pod.InfraContainerID);
  const states = { running: AppState.RUNNING, paused: AppState.RUNNING, exited: AppState.EXITED } as const;
  const stateOf = ({ State }: InspectedContainer) =>
    states[State.Status as keyof typeof states] ?? AppState.UNDEFINED;
  const wasStarted = apps.some(({ State }) => nsFrom(State.StartedAt) > 0n);
  const counted = wasStarted ? apps : inOrder;
  const isRunning = counted.some((each) => stateOf(each) === AppState.RUNNING);
  const hasEnded = counted.some((each) => stateOf(each) === AppState.EXITED);
  const starts = inOrder.map(({ State }) => nsFrom(State.StartedAt)).filter((ns) => ns > 0n);
  return {
    id: uuidOf(pod.Id),
    pid: [infra, ...apps].map((each) => each?.State.Pid ?? 0).find((pid) => pid > 0) ?? -1,
    state: isRunning ? PodState.RUNNING : hasEnded ? PodState.EXITED : PodState.PREPARED,
    apps: apps.map((app) => ({
      name: app.Name,
      image: {
        id: app.Image,
        baseFormat: expectedFormat(images.find(({ Id }) => Id === app.Image)),
        ...expectedName(app.ImageName),
      },
      state: stateOf(app),
      exitCode: app.State.ExitCode,
      annotations: keyValuesOf(
        Object.fromEntries(
          Object.entries(app.Config.Annotations ?? {}).filter(
            ([key]) => !/^io\.(podman|container|kubernetes)/.test(key),
          ),
        ),
      ),
    })),
    networks: isRunning
      ? Object.entries(infra?.NetworkSettings.Networks ?? {})
          .filter(([, { IPAddress }]) => IPAddress !== "")
          .map(([name, { IPAddress, GlobalIPv6Address }]) => ({
            name,
            ipv4: IPAddress,
            ipv6: GlobalIPv6Address,
          }))
      : [],
    annotations: keyValuesOf(pod.Labels),
    cgroup: isRunning ? (pod.CgroupPath ?? "") : "",
    createdAt: nsFrom(pod.Created),
    startedAt: starts.length === 0 ? 0n : starts.reduce((a, b) => (b < a ? b : a)),
    gcMarkedAt: 0n,
  };
}

function expectedName(reference: string) {
  const [, name = "", version = ""] = /^(.*?)(?::([^:/]*))?$/.exec(reference) ?? [];
  return { name, version };
}

function expectedFormat(image: InspectedImage | undefined) {
  return image?.ManifestType.includes("docker")
    ? { type: ImageType.DOCKER, version: "v2" }
    : { type: ImageType.OCI, version: "v1" };
}

const documentOf = ({ manifest }: { readonly manifest: Uint8Array }) =>
  JSON.parse(new TextDecoder().decode(manifest));

/** The order of these varies. */
const withOrder = (document: { SharedNamespaces?: string[] }) => ({
  ...document,
  SharedNamespaces: document.SharedNamespaces?.toSorted(),
});

async function makeLab(t: Test) {
  const service = await startPodman(t);
  const gate = await startPodmanGate(t, service.socketPath);
  const { url } = await startGatewayUnderTest(t, { pods: { podman: { socket: gate.socketPath } } });
  const transport = createGrpcTransport({ baseUrl: url });
  return {
    service,
    gate,
    api: createClient(PublicAPI, transport),
    today: createClient(PodService, transport),
  };
}

async function untilPod(
  api: Client<typeof PublicAPI>,
  /** Id of the pod; any pod if empty. */
  id: string,
  isThere: (pod: Pod) => boolean,
): Promise<Pod> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const { pods } = await api.listPods({ filters: id === "" ? [] : [{ ids: [id] }], detail: true });
    const pod = pods.find(isThere);
    if (pod !== undefined) {
      return pod;
    }
    await sleep(50);
  }
  throw new Error(`${id} does not reach the expected state`);
}

test("every field of pods and images agrees with Podman's own program", { skip, timeout }, async (t) => {
  const { service, api, today } = await makeLab(t);
  const { podman } = service;
  await fillPodman(service);
  const { pods, images } = await inspectAll(service);
  t.equal(pods.length, 7);
  t.equal(images.length, 4);
  // Pods are read after events, and this name is the latest change in Podman.
  const named = { filters: [{ fullNames: ["localhost:5000/other/name"] }] };
  for (let attempt = 0; (await api.listImages(named)).images.length === 0 && attempt < 200; attempt += 1) {
    await sleep(50);
  }

  await t.test("GetInfo", async (t) => {
    const { info } = await api.getInfo({});
    const version = (await podman("version", "--format", "{{.Server.Version}}")).trim();
    const podmanInfo = JSON.parse(await podman("info", "--format", "json"));
    t.match(info, { rktVersion: version, appcVersion: "0.8.11", apiVersion: "1.0.0-alpha" });
    t.equal(info?.globalFlags?.dir, podmanInfo.store.graphRoot);
    t.equal(`${info?.globalFlags?.systemConfigDir}/storage.conf`, podmanInfo.store.configFile);
  });

  await t.test("pods", async (t) => {
    const { pods: listed } = await api.listPods({ detail: true });
    t.same(
      listed.map(({ id }) => id),
      pods.map(({ Id }) => uuidOf(Id)),
      "by id",
    );
    for (const [at, pod] of pods.entries()) {
      const { pod: inspected } = await api.inspectPod({ id: uuidOf(pod.Id).slice(0, 10).toUpperCase() });
      t.same(inspected, listed[at], `${pod.Name} is listed as it is inspected`);
      const expected = expectedPod(pod, images);
      t.match(inspected, expected, pod.Name);
      t.equal(inspected?.apps.length, expected.apps.length);
      t.equal(inspected?.networks.length, expected.networks.length);
      t.same(
        withOrder(inspected && documentOf(inspected)),
        withOrder(pod.document),
        `the manifest of ${pod.Name}`,
      );
    }
    const brief = (await api.listPods({})).pods;
    for (const [at, pod] of listed.entries()) {
      t.same(brief[at], { ...pod, apps: [], manifest: new Uint8Array() }, "without details");
    }
    const stateOf = (name: string) => listed[pods.findIndex(({ Name }) => Name === name)]?.state;
    const { RUNNING, EXITED, PREPARED } = PodState;
    const states = ["web", "bare", "held", "ended", "fresh", "empty"].map(stateOf);
    t.same(states, [RUNNING, RUNNING, RUNNING, EXITED, PREPARED, PREPARED]);
    const web = listed.find(({ annotations }) => annotations.length > 0);
    t.match(web?.networks, [{ name: "net", ipv4: /^10\.89\.78\./, ipv6: /^fd78:89::/ }]);
    t.match(web?.apps, [
      { annotations: [{ Key: "a" }, { Key: "b" }] },
      { exitCode: 7, state: AppState.EXITED },
    ]);
  });

  await t.test("filters of pods", async (t) => {
    const namesOf = async (filter: Parameters<typeof api.listPods>[0]["filters"]) => {
      const { pods: found } = await api.listPods({ filters: filter ?? [] });
      return found.map(({ id }) => pods.find(({ Id }) => uuidOf(Id) === id)?.Name).toSorted();
    };
    const web = pods.find(({ Name }) => Name === "web");
    t.same(await namesOf([{ appNames: ["server", "migration"] }]), ["web"]);
    t.same(await namesOf([{ networkNames: ["net"] }]), ["web"]);
    t.same(await namesOf([{ states: [PodState.EXITED] }, { appNames: ["idle"] }]), ["ended", "fresh"]);
    t.same(await namesOf([{ annotations: [{ Key: "zone", value: "1" }] }]), ["web"]);
    t.same(await namesOf([{ cgroups: [web?.CgroupPath ?? ""] }]), ["web"]);
    const ofServer = web?.containers.find(({ Name }) => Name === "server")?.State.CgroupPath ?? "";
    t.match(ofServer, /./);
    t.same(await namesOf([{ podSubCgroups: [ofServer] }]), ["web"]);
  });

  await t.test("images", async (t) => {
    const { images: listed } = await api.listImages({ detail: true });
    t.same(
      listed.map(({ id }) => id),
      images.map(({ Id }) => Id).toSorted(),
    );
    const rows: readonly { Id: string; Size: number }[] = JSON.parse(
      await podman("images", "--format", "json"),
    );
    for (const image of images) {
      const { image: inspected } = await api.inspectImage({ id: `sha256:${image.Id}` });
      t.same(
        inspected,
        listed.find(({ id }) => id === image.Id),
        "as it is listed",
      );
      t.match(inspected, {
        baseFormat: expectedFormat(image),
        ...expectedName(image.RepoTags[0] ?? ""),
        size: BigInt(rows.find(({ Id }) => Id === image.Id)?.Size ?? -1),
        labels: keyValuesOf(image.Labels),
        annotations: keyValuesOf(image.Annotations),
      });
      const importedAt = Number(inspected?.importTimestamp);
      t.ok(
        importedAt >= Math.floor(Number(nsFrom(image.Created) / 1_000_000_000n)),
        "not before it was built",
      );
      t.ok(importedAt <= Date.now() / 1000);
      t.same(
        inspected && documentOf(inspected),
        image,
        `the manifest of ${image.RepoTags[0] ?? "an image without a name"}`,
      );
    }
    t.match((await api.listImages(named)).images, [{ name: /^localhost/ }], "by its second name");
    t.equal((await api.listImages({ filters: [{ fullNames: [""] }] })).images.length, 1);
  });

  await t.test("the same in PodService", async (t) => {
    const { pods: listed, unreadable } = await today.listPods({});
    t.same(unreadable, []);
    t.same(
      listed.map(({ name }) => name),
      pods.map(({ Name }) => Name),
    );
    const migration = listed.flatMap(({ containers }) => containers).find(({ name }) => name === "migration");
    t.match(migration, { exitCode: 7, imageName: labImage });
    const { images: reported } = await today.listImages({});
    for (const image of images) {
      const same = reported.find(({ id }) => id === image.Id);
      t.same(same?.names.toSorted(), image.RepoTags.toSorted());
      const users = pods.flatMap(({ containers }) => containers).filter(({ Image }) => Image === image.Id);
      t.equal(same?.containerCount, users.length);
    }
  });
});

test("changes by Podman's own program are noticed, and so is a stopped service", {
  skip,
  timeout,
}, async (t) => {
  const { service, api, today } = await makeLab(t);
  const { podman } = service;
  const leaving = new AbortController();
  const watched: string[] = [];
  const watching = (async () => {
    for await (const { pods } of today.watchPods({}, { signal: leaving.signal, timeoutMs: 0 })) {
      watched.push(pods.map(({ name, state }) => `${name} ${state}`).join());
    }
  })().catch(() => {});
  const id = (await podman("pod", "create", "--name", "web", "--network", "none")).trim();
  await podman("run", "-d", "--pod", "web", "--name", "server", labImage, "sleep", "1000");
  const uuid = uuidOf(id);
  const running = await untilPod(api, uuid, (pod) => pod.state === PodState.RUNNING);
  t.ok(running.pid > 0 && running.cgroup !== "");
  await podman("pod", "stop", "-t", "0", "web");
  const stopped = await untilPod(api, uuid, (pod) => pod.state === PodState.EXITED && pod.pid === -1);
  t.match(stopped, { id: uuid, cgroup: "", networks: [], apps: [{ state: AppState.EXITED, exitCode: 137 }] });
  t.equal(stopped.startedAt, running.startedAt);
  await podman("pod", "start", "web");
  const again = await untilPod(api, uuid, (pod) => pod.state === PodState.RUNNING);
  t.ok(again.startedAt > running.startedAt);
  t.match(again, { id: uuid, apps: [{ exitCode: 0 }] });

  await service.stop();
  for (let attempt = 0; (await isServed(api)) && attempt < 100; attempt += 1) {
    await sleep(50);
  }
  const away = { code: "UNAVAILABLE", reason: "PODMAN_UNAVAILABLE" };
  t.match(await rpcErrorOf(api.inspectPod({ id: uuid })), away);
  t.match(await rpcErrorOf(api.listImages({})), away);
  t.match(await rpcErrorOf(api.getInfo({})), away);
  await service.start();
  for (let attempt = 0; !(await isServed(api)) && attempt < 200; attempt += 1) {
    await sleep(50);
  }
  await podman("pod", "rm", "-f", "-t", "0", "web");
  for (let attempt = 0; (await api.listPods({})).pods.length > 0 && attempt < 200; attempt += 1) {
    await sleep(50);
  }
  t.match(await rpcErrorOf(api.inspectPod({ id: uuid })), { code: "NOT_FOUND", reason: "POD_NOT_FOUND" });
  leaving.abort();
  await watching;
  t.equal(watched[0], "");
  t.ok(watched.includes(`web ${TodaysPodState.RUNNING}`));
  t.ok(watched.includes(`web ${TodaysPodState.EXITED}`));
});

test("a thousand reads make no Podman call", { skip, timeout }, async (t) => {
  const { service, gate, api, today } = await makeLab(t);
  await service.podman("pod", "create", "--name", "web", "--network", "none");
  const id = (await untilPod(api, "", () => true)).id;
  // Everything is read again once a minute, and recent changes may cause more reads; tries to hit a time without either.
  for (let attempt = 1; ; attempt += 1) {
    await sleep(1_000);
    const before = gate.calls.length;
    for (let turn = 0; turn < 200; turn += 1) {
      await Promise.all([
        api.listPods({ detail: true }),
        api.inspectPod({ id }),
        api.listImages({ detail: true }),
        today.listPods({}),
        today.listImages({}),
      ]);
    }
    const created = gate.calls.slice(before);
    if (created.length === 0 || attempt === 3) {
      t.same(created, []);
      break;
    }
  }
  t.ok(gate.calls.includes("GET /v4.0.0/libpod/pods/json"), "calls would have been counted");
});

async function isServed(api: Client<typeof PublicAPI>): Promise<boolean> {
  return api.listPods({}).then(
    () => true,
    () => false,
  );
}
