import fc from "fast-check";
import { test } from "tap";
import { refusalOf } from "../../../../adapters/podman/client.ts";
import { errorFromCall, errorFromRefusal } from "../../../../adapters/podman/errors.ts";
import { parseInfo } from "../../../../adapters/podman/info.ts";
import {
  containerStateFrom,
  parseContainer,
  parseContainerRows,
} from "../../../../adapters/podman/parse/parse-container.ts";
import { imageFrom, parseImageRows } from "../../../../adapters/podman/parse/parse-image.ts";
import {
  parsePod,
  parsePodRows,
  podFrom,
  uuidFromPodId,
} from "../../../../adapters/podman/parse/parse-pod.ts";
import { reasonOfCall } from "../../host/reason-of.ts";
import { refusals, replyOf } from "../samples.ts";

const runningNames = ["runningTicker", "runningServer", "runningInfra"];
const runningMembers = () => runningNames.map((name) => parseContainer(replyOf(name)));

test("a running pod has all details of its containers", async (t) => {
  const pod = podFrom(parsePod(replyOf("runningPod")), runningMembers());
  t.match(pod, { name: "web", phase: "running", labels: new Map([["role", "web"]]) });
  t.equal(pod.cgroup, `/libpod_parent/${pod.id}`);
  t.strictSame(pod.networks, [{ name: "net", ipv4: "10.89.77.10", ipv6: "fd77:89::10" }]);
  t.strictSame(
    pod.containers.map(({ name, isInfra, state }) => [name, isInfra, state]),
    [
      [`${pod.id.slice(0, 12)}-infra`, true, "running"],
      ["ticker", false, "running"],
      ["server", false, "running"],
    ],
  );
  const [infra, ticker] = pod.containers;
  t.equal(pod.startedAtNs, infra?.startedAtNs);
  t.match(ticker, { exitCode: undefined, exitedAtNs: undefined, image: { name: "localhost/lab/busybox:1" } });
  t.equal(ticker?.annotations.get("note"), "hello");
  t.notOk([...(ticker?.annotations.keys() ?? [])].some((key) => key.startsWith("io.podman.")));
  t.ok((ticker?.startedAtNs ?? 0n) % 1_000_000_000n > 0n, "to the nanosecond");
});

test("a pod's phase depends on its containers", async (t) => {
  const created = podFrom(parsePod(replyOf("createdPod")), [parseContainer(replyOf("createdContainer"))]);
  t.match(created, { phase: "created", startedAtNs: undefined, networks: [] });
  const exited = parseContainer(replyOf("exitedTicker"));
  t.match(exited.container, { state: "exited", exitCode: 7, pid: undefined });
  t.ok((exited.container.exitedAtNs ?? 0n) > (exited.container.startedAtNs ?? 0n));
  const infra = parseContainer(replyOf("runningInfra"));
  const server = parseContainer(replyOf("runningServer"));
  const degraded = parsePod(replyOf("degradedPod"));
  t.equal(degraded.facts.State, "Degraded");
  t.equal(podFrom(degraded, [infra, exited, server]).phase, "running");
  t.equal(podFrom(degraded, [infra, exited]).phase, "exited", "its apps decide");
  const broken = { ...degraded, facts: { ...degraded.facts, State: "Error" } };
  t.equal(podFrom(broken, [infra, exited]).phase, "unknown");
  const bare = podFrom(parsePod(replyOf("barePod")), []);
  t.match(bare, { phase: "created", cgroup: undefined, networks: [], containers: [] });
  for (const [word, state] of [
    ["stopped", "exited"],
    ["configured", "created"],
    ["paused", "paused"],
    ["stopping", "stopping"],
    ["removing", "unknown"],
  ]) {
    t.equal(containerStateFrom(word ?? ""), state);
  }
});

test("a pod's document stays the same while nothing has changed", async (t) => {
  const text = replyOf("runningPod");
  const turned = text.replace(/"SharedNamespaces":\[([^\]]*)\]/, (_, list: string) => {
    return `"SharedNamespaces":[${list.split(",").reverse().join(",")}]`;
  });
  t.not(turned, text);
  t.equal(parsePod(turned).document, parsePod(text).document);
});

test("parses lists, including empty ones", async (t) => {
  t.strictSame(parsePodRows(replyOf("noPods")), []);
  t.strictSame(parsePodRows("null"), []);
  t.strictSame(
    parsePodRows(replyOf("pods"))
      .map(({ Name }) => Name)
      .sort(),
    ["bare", "flap", "web"],
  );
  const rows = parseContainerRows(replyOf("containers"));
  t.equal(rows.filter(({ IsInfra }) => IsInfra).length, 2);
  t.equal(rows.find(({ Names }) => Names[0] === "odd")?.Pod, "");
  t.equal(rows.find(({ Names }) => Names[0] === "ticker")?.ExitCode, 7);
});

test("an image has its names, or none after it lost them", async (t) => {
  const rows = parseImageRows(replyOf("images"));
  const row = rows.find(({ Names }) => Names.includes("localhost/lab/busybox:1"));
  t.ok(row?.Names.includes("localhost/second:2"));
  const image = row && imageFrom(row, replyOf("image"));
  t.match(image, { id: row?.Id, format: "oci", formatVersion: "v1", sizeBytes: row?.Size });
  t.equal(image?.labels.get("lab.role"), "base");
  t.ok(parseImageRows(replyOf("imagesWithNameless")).some(({ Names }) => Names.length === 0));
  const docker = replyOf("image").replace(
    /"ManifestType":"[^"]*"/,
    '"ManifestType":"application/vnd.docker.distribution.manifest.v2+json"',
  );
  t.match(row && imageFrom(row, docker), { format: "docker", formatVersion: "v2" });
  const strange = replyOf("image").replace(/"ManifestType":"[^"]*"/, '"ManifestType":"text/plain"');
  t.match(row && imageFrom(row, strange), { format: "unknown", formatVersion: "" });
});

test("parses Podman's description of itself", async (t) => {
  t.match(parseInfo(replyOf("info")), {
    name: "Podman",
    version: "4.3.1",
    storeDirectory: "/lab/state/root",
    configDirectory: "/lab/conf",
    eventLogger: "file",
    logDriver: "k8s-file",
    isRootless: false,
  });
});

test("maps refusals to reasons", async (t) => {
  const expected: Record<string, string> = {
    podNotFound: "POD_NOT_FOUND",
    containerNotFound: "CONTAINER_NOT_FOUND",
    imageNotFound: "IMAGE_NOT_FOUND",
    removeRunning: "POD_STATE",
    removeUsedImage: "PODMAN_FAILED",
    noLogs: "LOGS_UNAVAILABLE",
    badSignal: "INVALID_FIELD",
    startBroken: "PODMAN_FAILED",
    killStopped: "POD_STATE",
  };
  for (const [name, { status, text }] of Object.entries(refusals())) {
    const error = errorFromRefusal(refusalOf(status, text));
    t.equal(error.reason, expected[name], name);
    t.match(error.message, /^Podman refused: .{10}/);
  }
  t.match(errorFromRefusal(refusalOf(409, refusals().startBroken?.text ?? "")).message, /no such file/);
  t.equal(errorFromRefusal(refusalOf(500, "<html>")).message, "Podman refused: <html>");
});

test("distinguishes a missing, an inaccessible and an unresponsive socket", async (t) => {
  const reasonFor = (code: string) => errorFromCall(Object.assign(new Error(code), { code }), "/s").reason;
  t.equal(reasonFor("ENOENT"), "PODMAN_UNAVAILABLE");
  t.equal(reasonFor("EACCES"), "PODMAN_DENIED");
  t.equal(reasonFor("UND_ERR_HEADERS_TIMEOUT"), "PODMAN_UNAVAILABLE");
  t.match(errorFromCall(new Error("?"), "/s").message, /the connection was lost/);
});

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  parsePod,
  parsePodRows,
  parseContainer,
  parseContainerRows,
  parseImageRows,
  parseInfo,
  imageFrom: (text) => imageFrom({ Names: [], Size: 0n }, text),
};
const samples = ["runningPod", "pods", "runningTicker", "containers", "images", "info", "image"].map(replyOf);

test("any input is parsed or rejected", async (t) => {
  const broken = fc
    .tuple(fc.constantFrom(...samples), fc.nat(), fc.nat(8), fc.string({ maxLength: 4 }))
    .map(([text, at, length, words]) => {
      const from = at % text.length;
      return text.slice(0, from) + words + text.slice(from + length);
    });
  for (const [name, parse] of Object.entries(parsers)) {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string(), broken), async (text) => {
        const reason = await reasonOfCall(() => parse(text));
        return reason === undefined || reason === "PODMAN_FAILED";
      }),
      { numRuns: 300 },
    );
    t.pass(name);
  }
});

test("the UUID is the first half of a pod's id", async (t) => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9a-f]{64}$/), (id) => {
      const uuid = uuidFromPodId(id);
      return (
        /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid) &&
        uuid.replaceAll("-", "") === id.slice(0, 32)
      );
    }),
  );
  t.pass();
});
