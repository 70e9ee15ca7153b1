import { type Command, InvalidArgumentError } from "commander";
import { withTargetFlags } from "../cli/config/config-flags.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { parseCount } from "../cli/table/parse-count.ts";
import { parseTimeOption } from "../cli/table/parse-time-option.ts";
import type { CommandContext } from "./run-admin-command.ts";

const whichPod = "pod id, a prefix of it, or pod name";

/** Adds `list`, `show`, `watch`, `logs`, `start`, `stop`, `kill` and `remove` to the command `pod`. */
export function addPodCommands(
  pod: Command,
  context: CommandContext,
  onExit: (code: ExitCode) => void,
): void {
  const commands = () => import("./pod.ts");
  withTargetFlags(pod.command("list"))
    .description("list the pods")
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).listPods(options, context)));
  withTargetFlags(pod.command("show"))
    .description("show a pod and its containers")
    .argument("<pod>", whichPod)
    .option("--json", "as JSON")
    .action(async (name, options) => onExit(await (await commands()).showPod(name, options, context)));
  withTargetFlags(pod.command("watch"))
    .description("print the pods, then each one that changes")
    .option("--json", "as JSON lines, each with all pods")
    .action(async (options) => onExit(await (await commands()).watchPods(options, context)));
  withTargetFlags(pod.command("logs"))
    .description("print the logs of a pod's containers")
    .argument("<pod>", whichPod)
    .option("--container <name>", "only this container")
    .option("-f, --follow", "follow the log output")
    .option("--lines <number>", "number of most recent lines (default: all)", parseCount)
    .option(
      "--since <time>",
      "only lines printed at or after this time, e.g. 2026-01-31T00:00:00Z",
      parseTimeOption,
    )
    .option("--until <time>", "only lines printed before this time", parseTimeOption)
    .action(async (name, options) =>
      onExit(await (await import("./pod-logs.ts")).printPodLogs(name, options, context)),
    );
  withChangeFlags(pod.command("start"))
    .description("start every container of a pod")
    .argument("<pod>", whichPod)
    .action(async (name, options) => onExit(await (await commands()).startPod(name, options, context)));
  withChangeFlags(pod.command("stop"))
    .description("stop all containers of a pod; kill those that do not exit in time")
    .argument("<pod>", whichPod)
    .option("--grace <seconds>", "grace period in seconds, from 0 to 3600 (default: 10)", parseSeconds)
    .action(async (name, options) => onExit(await (await commands()).stopPod(name, options, context)));
  withChangeFlags(pod.command("kill"))
    .description("send a signal to every container of a pod")
    .argument("<pod>", whichPod)
    .option("--signal <name>", "signal name, e.g. SIGHUP (default: SIGKILL)", parseSignalOption)
    .action(async (name, options) => onExit(await (await commands()).killPod(name, options, context)));
  withChangeFlags(pod.command("remove"))
    .description("remove a pod with its containers and their data")
    .argument("<pod>", "pod id or name")
    .option("--force", "even if it is running")
    .action(async (name, options) => onExit(await (await commands()).removePod(name, options, context)));
}

/** Adds `list`, `pull` and `remove` to the command `image`. */
export function addImageCommands(
  image: Command,
  context: CommandContext,
  onExit: (code: ExitCode) => void,
): void {
  const commands = () => import("./image.ts");
  withTargetFlags(image.command("list"))
    .description("list the images")
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).listImages(options, context)));
  withChangeFlags(image.command("pull"))
    .description("pull an image from the registry in its name")
    .argument("<reference>", "full name with tag, e.g. docker.io/library/busybox:1.35")
    .action(async (name, options) => onExit(await (await commands()).pullImage(name, options, context)));
  withChangeFlags(image.command("remove"))
    .description("remove an image with all its names")
    .argument("<image>", "image id, or one of its names with tag")
    .option("--force", "even if containers use it; they are removed too")
    .action(async (name, options) => onExit(await (await commands()).removeImage(name, options, context)));
}

function withChangeFlags(command: Command): Command {
  return withTargetFlags(command)
    .option("--wait", "report progress until the operation ends; fail unless it completes")
    .option("--json", "as JSON; with --wait as JSON lines");
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() === "" || !(Number.isInteger(seconds) && seconds >= 0 && seconds <= 3_600)) {
    throw new InvalidArgumentError("expected a whole number from 0 to 3600");
  }
  return seconds;
}

/** An empty shell variable must not select the default, SIGKILL. */
function parseSignalOption(text: string): string {
  if (text === "") {
    throw new InvalidArgumentError("expected the name of a signal");
  }
  return text;
}
