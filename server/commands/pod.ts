import { toJson } from "@bufbuild/protobuf";
import { type Pod, PodSchema, WatchPodsResponseSchema } from "../../gen/hostplane/v1/pod_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";
import { whileRead } from "../cli/while-read.ts";
import { type BeginOperationOptions, beginOperation } from "./begin-operation.ts";
import { changedPodLines, podLines, podListJson, podListLines } from "./pod-lines.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

/** Pods are known only to a running gateway. */
const running = { mustRun: true };

/** Prints the pods, unreadable ones included, as a table or as the API's message. */
export function listPods(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  const work = async (client: AdminClient) => {
    const answer = await client.pods.listPods({});
    for (const line of options.json === true ? [podListJson(answer)] : podListLines(answer)) {
      context.output.out(line);
    }
  };
  return runAdminCommand(options, context, work, running);
}

/** Prints a pod with its containers. */
export function showPod(wanted: string, options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  const work = async (client: AdminClient) => {
    const pod = await findPodByCall(client, wanted);
    const lines = options.json === true ? [JSON.stringify(jsonOf(pod), null, 2)] : podLines(pod);
    for (const line of lines) {
      context.output.out(line);
    }
  };
  return runAdminCommand(options, context, work, running);
}

/** Prints the current pods and then each change, until the gateway stops or the output is closed. */
export function watchPods(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  const work = (client: AdminClient) =>
    whileRead(async (signal) => {
      let before: readonly Pod[] = [];
      for await (const message of client.pods.watchPods({}, { signal })) {
        const lines =
          options.json === true
            ? [JSON.stringify(toJson(WatchPodsResponseSchema, message, { alwaysEmitImplicit: true }))]
            : changedPodLines(before, message.pods);
        before = message.pods;
        for (const line of lines) {
          context.output.out(line);
        }
      }
    });
  return runAdminCommand(options, context, work, running);
}

/** Starts the operation that starts a pod. */
export function startPod(
  pod: string,
  options: BeginOperationOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return beginOperation(options, context, ({ pods }) => pods.startPod({ pod }));
}

/** Starts the operation that stops a pod. */
export function stopPod(
  pod: string,
  options: BeginOperationOptions & { readonly grace?: number },
  context: CommandContext,
): Promise<ExitCode> {
  const { grace } = options;
  const request = grace === undefined ? { pod } : { pod, graceSeconds: grace };
  return beginOperation(options, context, ({ pods }) => pods.stopPod(request));
}

/** Starts the operation that sends a signal to a pod. */
export function killPod(
  pod: string,
  options: BeginOperationOptions & { readonly signal?: string },
  context: CommandContext,
): Promise<ExitCode> {
  const { signal = "" } = options;
  return beginOperation(options, context, ({ pods }) => pods.killPod({ pod, signal }));
}

/** Starts the operation that removes a pod. */
export function removePod(
  pod: string,
  options: BeginOperationOptions & { readonly force?: boolean },
  context: CommandContext,
): Promise<ExitCode> {
  const { force = false } = options;
  return beginOperation(options, context, ({ pods }) => pods.removePod({ pod, force }));
}

/**
 * Finds a pod by its id, its name, or a prefix of its id, also in Podman's form.
 * @throws ConnectError as InspectPod when none or several match; Error when it was removed in the meantime
 */
export async function findPodByCall(
  { pods, publicApi }: Pick<AdminClient, "pods" | "publicApi">,
  wanted: string,
): Promise<Pod> {
  const all = (await pods.listPods({})).pods;
  const exact = all.find(({ id }) => id === wanted) ?? all.find(({ name }) => name === wanted);
  if (exact !== undefined) {
    return exact;
  }
  const meant = (await publicApi.inspectPod({ id: wanted })).pod;
  const found = all.find(({ id }) => id === meant?.id);
  if (found === undefined) {
    throw new Error(`pod ${wanted} not found`);
  }
  return found;
}

function jsonOf(pod: Pod) {
  return toJson(PodSchema, pod, { alwaysEmitImplicit: true });
}
