import { mkdir, writeFile } from "node:fs/promises";
import { hostname, release } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client, request } from "undici";
import { createPodmanClient } from "../../../adapters/podman/client.ts";
import { labImage, type StartedPodman, startPodmanService } from "./podman.ts";

// Records a Podman's responses for tests that run without one:
//
//   node test/lab/podman/record-podman.ts
//
// A run takes half a minute. `replies.json` has the responses by topic, `refusals.json` status and body of errors,
// `events.ndjson` all events, and `logs.json` the bytes of logs in base64.

const samplesPath = fileURLToPath(new URL("../../adapters/podman/samples/", import.meta.url));

const ticker =
  "i=0; while test $i -lt 3; do echo tick $i; echo err $i >&2; i=$((i+1)); sleep 1; done; exit 7";
const oddLines =
  "head -c 20000 /dev/zero | tr '\\0' a; echo; echo; printf half; sleep 0.2; printf 'more\\n\\377\\376x\\nunfinished'";

async function record(service: StartedPodman): Promise<void> {
  const { podman, socketPath } = service;
  const client = createPodmanClient(socketPath);
  const anonymous = (text: string) =>
    text
      .replaceAll(dirname(socketPath), "/lab")
      .replaceAll(`"${hostname()}"`, '"lab"')
      .replaceAll(release(), "6.1.0");
  const read = async (path: string) => anonymous(await client.text(path));
  const idOf = async (kind: "pod" | "container" | "image", name: string) =>
    (await podman(kind, "inspect", name, "--format", kind === "pod" ? "{{.ID}}" : "{{.Id}}")).trim();
  const replies: Record<string, string> = {
    noPods: await read("pods/json"),
    info: await read("info"),
  };

  await podman(
    "network",
    "create",
    "--disable-dns",
    "--subnet",
    "10.89.77.0/24",
    "--ipv6",
    "--subnet",
    "fd77:89::/64",
    "net",
  );
  const address = "net:ip=10.89.77.10,ip=fd77:89::10";
  await podman("pod", "create", "--name", "web", "--network", address, "--label", "role=web");
  await podman(
    "create",
    "--pod",
    "web",
    "--name",
    "ticker",
    "--annotation",
    "note=hello",
    labImage,
    "sh",
    "-c",
    ticker,
  );
  await podman("create", "--pod", "web", "--name", "server", labImage, "sleep", "1000");
  replies.createdPod = await read(`pods/${await idOf("pod", "web")}/json`);
  replies.createdContainer = await read(`containers/${await idOf("container", "ticker")}/json`);
  await podman("pod", "start", "web");
  const members = ["ticker", "server", `${(await idOf("pod", "web")).slice(0, 12)}-infra`];
  const [tickerId, serverId, infraId] = await Promise.all(members.map((name) => idOf("container", name)));
  replies.runningPod = await read(`pods/${await idOf("pod", "web")}/json`);
  replies.runningTicker = await read(`containers/${tickerId}/json`);
  replies.runningServer = await read(`containers/${serverId}/json`);
  replies.runningInfra = await read(`containers/${infraId}/json`);
  await sleep(4_500);
  replies.degradedPod = await read(`pods/${await idOf("pod", "web")}/json`);
  replies.exitedTicker = await read(`containers/${tickerId}/json`);

  await podman("pod", "create", "--name", "bare", "--infra=false");
  await podman("create", "--pod", "bare", "--name", "lone", labImage, "false");
  await podman("run", "-d", "--network", "none", "--name", "odd", labImage, "sh", "-c", oddLines);
  await podman("create", "--network", "none", "--log-driver", "none", "--name", "mute", labImage, "true");
  await podman("pod", "create", "--name", "flap", "--network", "none");
  await podman(
    "run",
    "-d",
    "--pod",
    "flap",
    "--restart",
    "on-failure:2",
    "--name",
    "flapping",
    labImage,
    "false",
  );
  await podman("tag", labImage, "localhost/second:2");
  await podman("commit", "-q", "odd", "localhost/committed:1");
  await sleep(2_000);
  replies.pods = await read("pods/json");
  replies.containers = await read("containers/json?all=true");
  replies.barePod = await read(`pods/${await idOf("pod", "bare")}/json`);
  replies.images = await read("images/json");
  replies.image = await read(`images/${await idOf("image", labImage)}/json`);
  await podman("untag", "localhost/committed:1");
  replies.imagesWithNameless = await read("images/json");

  const logsOf = async (name: string) => {
    const path = `containers/${await idOf("container", name)}/logs?stdout=true&stderr=true&timestamps=true`;
    const chunks = [];
    for await (const chunk of await client.stream("GET", path, AbortSignal.timeout(30_000))) {
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("base64");
  };
  const logs = { ticker: await logsOf("ticker"), odd: await logsOf("odd") };

  const refusals: Record<string, { readonly status: number; readonly text: string }> = {};
  const refuse = async (name: string, method: "GET" | "POST" | "DELETE", path: string) => {
    // Not with hostplane's client, which converts them to errors.
    const dispatcher = new Client("http://podman", { socketPath });
    const { statusCode, body } = await request(`http://podman/v4.0.0/libpod/${path}`, { method, dispatcher });
    refusals[name] = { status: statusCode, text: anonymous(await body.text()) };
    await dispatcher.close();
  };
  await podman("pod", "create", "--name", "broken", "--network", "none");
  await podman("create", "--pod", "broken", "--name", "broken1", labImage, "/no/such/program");
  await refuse("podNotFound", "GET", `pods/${"0".repeat(64)}/json`);
  await refuse("containerNotFound", "GET", `containers/${"0".repeat(64)}/json`);
  await refuse("imageNotFound", "GET", `images/${"0".repeat(64)}/json`);
  await refuse("removeRunning", "DELETE", "pods/web");
  await refuse("removeUsedImage", "DELETE", `images/${await idOf("image", labImage)}`);
  await refuse("noLogs", "GET", "containers/mute/logs?stdout=true");
  await refuse("badSignal", "POST", "pods/web/kill?signal=SIGNOPE");
  await refuse("startBroken", "POST", "pods/broken/start");
  await podman("pod", "stop", "-t", "0", "web");
  await refuse("killStopped", "POST", "pods/web/kill?signal=SIGTERM");
  await podman("pod", "rm", "-f", "-t", "0", "-a");
  await sleep(500);
  const events = await read("events?stream=false");
  await client.close();

  await mkdir(samplesPath, { recursive: true });
  await writeFile(`${samplesPath}replies.json`, `${JSON.stringify(replies, undefined, 1)}\n`);
  await writeFile(`${samplesPath}refusals.json`, `${JSON.stringify(refusals, undefined, 1)}\n`);
  await writeFile(`${samplesPath}logs.json`, `${JSON.stringify(logs, undefined, 1)}\n`);
  await writeFile(`${samplesPath}events.ndjson`, events);
}

const service = await startPodmanService();
try {
  await record(service);
} finally {
  await service.destroy();
}
