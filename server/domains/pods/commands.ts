import { isDeepStrictEqual } from "node:util";
import { toJson } from "@bufbuild/protobuf";
import {
  type Pod,
  type PodContainer,
  PodContainerState,
  PodContainerStateSchema,
  PodImageSchema,
  PodSchema,
  PodService,
  PodStateSchema,
} from "../../../gen/hostplane/v1/pod_pb.ts";
import { PublicAPI } from "../../../gen/v1alpha/api_pb.ts";
import { list, type Noun, operation, show, stream, watch } from "../../cli/table/command.ts";
import { enumText } from "../../cli/table/enum-text.ts";
import {
  argument,
  count,
  duration,
  flag,
  nameOf,
  nonEmpty,
  option,
  time,
  word,
} from "../../cli/table/parameter.ts";
import { printableLine } from "../../cli/table/printable-line.ts";
import { inventoryReference, uuid } from "../../cli/table/reference.ts";
import { requestFromValues } from "../../cli/table/request-from-values.ts";
import { timeText } from "../../cli/table/time-text.ts";
import { watchResources } from "../../cli/table/watch-resources.ts";

const pods = inventoryReference("pod", "pod", uuid);
const images = inventoryReference("image", "image", /^[\da-f]{64}$/);

const pod = argument("pod id, a prefix of it, or pod name", nameOf("pod", pods));
const image = argument("image id, a prefix of it, or one of its names with tag", nameOf("image", images));

const watchPods = watch({ method: PodService.method.watchPods, createLines: createPodLines });

/** Podman pods. */
export const podNoun: Noun = {
  reference: pods,
  commands: [
    list({
      name: "list",
      summary: "list the pods",
      method: PodService.method.listPods,
      schema: PodSchema,
      items: (response) => response.pods,
      columns: {
        ID: "id",
        NAME: "name",
        STATE: "state",
        CONTAINERS: (item) => item.containers.map((each) => `${each.name} ${stateText(each)}`).join(", "),
        STARTED: "startedAt",
      },
      notes: ({ unreadable }) => unreadable.map(({ id, reason }) => `pod ${id} is unreadable: ${reason}`),
      watch: watchPods,
    }),
    show({
      name: "show",
      summary: "show a pod and its containers",
      parameters: { pod },
      method: PodService.method.listPods,
      request: () => ({}),
      schema: PodSchema,
      item: (response, values) => {
        const { pods: all } = response;
        const found = all.find(({ id }) => id === values.pod) ?? all.find(({ name }) => name === values.pod);
        if (found === undefined) {
          throw new Error(`pod ${values.pod} not found`);
        }
        return found;
      },
      view: (item) => podView(item),
    }),
    stream({
      name: "logs",
      summary: "print the logs of a pod's containers",
      parameters: {
        pod,
        container: option("only this container", word("name")),
        follow: flag("follow the log output", { short: "f" }),
        lines: option("number of most recent lines (default: all)", count),
        since: option("only lines printed at or after this time, e.g. 2026-01-31T00:00:00Z", time),
        until: option("only lines printed before this time", time),
      },
      method: PublicAPI.method.getLogs,
      request: ({ pod: podId, container: appName, since: sinceTime, until: untilTime, ...rest }) =>
        requestFromValues(PublicAPI.method.getLogs.input, { podId, appName, sinceTime, untilTime, ...rest }),
      createLines: () => (message) =>
        process.stdout.isTTY ? message.lines.map(withoutControl) : message.lines,
    }),
    operation({
      name: "start",
      summary: "start every container of a pod",
      parameters: { pod },
      method: PodService.method.startPod,
    }),
    operation({
      name: "stop",
      summary: "stop all containers of a pod; kill those that do not exit in time",
      parameters: { pod, grace: option("grace period, from 0 to 1h (default: 10s)", duration) },
      method: PodService.method.stopPod,
      request: ({ pod: name, grace }) =>
        grace === undefined ? { pod: name } : { pod: name, graceSeconds: Math.ceil(grace / 1_000) },
    }),
    operation({
      name: "kill",
      summary: "send a signal to every container of a pod",
      // An empty shell variable must not select the default, SIGKILL.
      parameters: {
        pod,
        signal: option(
          "signal name, e.g. SIGHUP (default: SIGKILL)",
          nonEmpty("name", "the name of a signal"),
        ),
      },
      method: PodService.method.killPod,
    }),
    operation({
      name: "remove",
      summary: "remove a pod with its containers and their data",
      parameters: { pod, force: flag("even if it is running") },
      method: PodService.method.removePod,
      destroys: true,
    }),
  ],
};

/** Podman images. */
export const imageNoun: Noun = {
  reference: images,
  commands: [
    list({
      name: "list",
      summary: "list the images",
      method: PodService.method.listImages,
      schema: PodImageSchema,
      items: (response) => response.images,
      columns: {
        ID: "id",
        NAMES: "names",
        SIZE: "sizeBytes",
        CONTAINERS: "containerCount",
        BUILT: "builtAt",
        IMPORTED: "importedAt",
      },
      watch: watchResources("image"),
    }),
    operation({
      name: "pull",
      summary: "pull an image from the registry in its name",
      parameters: {
        reference: argument("full name with tag, e.g. docker.io/library/busybox:1.35"),
      },
      method: PodService.method.pullImage,
    }),
    operation({
      name: "remove",
      summary: "remove an image with all its names",
      parameters: { image, force: flag("even if containers use it; they are removed too") },
      method: PodService.method.removeImage,
      destroys: true,
    }),
  ],
};

function podView({ id, name, state, createdAt, startedAt, networks, labels, containers }: Pod) {
  return {
    facts: [
      ["id", id],
      ["name", name],
      ["state", enumText(PodStateSchema, state)],
      ["created", timeText(createdAt)],
      ["started", timeText(startedAt)],
      ...networks.map((each) => ["network", [each.name, each.ipv4, each.ipv6].join(" ").trim()] as const),
      ...Object.entries(labels).map(([key, value]) => ["label", `${key}=${value}`] as const),
    ] as const,
    tables: [
      {
        head: ["CONTAINER", "STATE", "IMAGE", "STARTED", "EXITED", "ID"],
        rows: containers.map((each) => [
          each.name,
          stateText(each),
          each.imageName,
          timeText(each.startedAt),
          timeText(each.exitedAt),
          each.id,
        ]),
      },
    ],
  };
}

/** Formats a line for each pod that is new, changed or gone since the message before. */
function createPodLines() {
  let before: readonly Pod[] = [];
  return ({ pods: now }: { readonly pods: readonly Pod[] }): readonly string[] => {
    const known = new Map(before.map((each) => [each.id, each]));
    const ids = new Set(now.map(({ id }) => id));
    const changed = now.filter((each) => {
      const old = known.get(each.id);
      return old === undefined || !isDeepStrictEqual(toJson(PodSchema, old), toJson(PodSchema, each));
    });
    const gone = before.filter(({ id }) => !ids.has(id));
    before = now;
    return [...changed.map(podSummary), ...gone.map(({ id, name }) => `${id} ${name} removed`)].map(
      printableLine,
    );
  };
}

function podSummary({ id, name, state, containers }: Pod): string {
  const words = containers.map((each) => `${each.name} ${stateText(each)}`);
  const rest = words.length === 0 ? "" : `: ${words.join(", ")}`;
  return `${id} ${name} ${enumText(PodStateSchema, state)}${rest}`;
}

function stateText({ state, exitCode }: PodContainer): string {
  const name = enumText(PodContainerStateSchema, state);
  return state === PodContainerState.EXITED && exitCode !== undefined ? `${name} ${exitCode}` : name;
}

/** A program's output must not control the terminal. Tabs are harmless. */
function withoutControl(line: string): string {
  return line.replaceAll(/[^\P{Cc}\t]/gu, "\ufffd");
}
