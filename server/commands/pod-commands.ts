import { type Command, InvalidArgumentError } from "commander";
import { withTargetFlags } from "./config-flags.ts";
import type { ExitCode } from "./output.ts";
import { parseCount } from "./parse-count.ts";
import { parseTimeOption } from "./parse-time-option.ts";
import type { CommandContext } from "./run-admin-command.ts";

const whichPod = "its id, the beginning of its id, or its name";

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
    .description("tell all that is known of a pod and its containers")
    .argument("<pod>", whichPod)
    .option("--json", "as JSON")
    .action(async (name, options) => onExit(await (await commands()).showPod(name, options, context)));
  withTargetFlags(pod.command("watch"))
    .description("tell the pods now, and each that changes")
    .option("--json", "as JSON lines, each with all pods")
    .action(async (options) => onExit(await (await commands()).watchPods(options, context)));
  withTargetFlags(pod.command("logs"))
    .description("print what a pod's containers have printed")
    .argument("<pod>", whichPod)
    .option("--container <name>", "of this container alone")
    .option("-f, --follow", "go on with what is printed later")
    .option("--lines <number>", "the last so many lines; all if absent", parseCount)
    .option("--since <time>", "printed from this time on, e.g. 2026-01-31T00:00:00Z", parseTimeOption)
    .option("--until <time>", "printed before this time", parseTimeOption)
    .action(async (name, options) =>
      onExit(await (await import("./pod-logs.ts")).printPodLogs(name, options, context)),
    );
  withChangeFlags(pod.command("start"))
    .description("start every container of a pod")
    .argument("<pod>", whichPod)
    .action(async (name, options) => onExit(await (await commands()).startPod(name, options, context)));
  withChangeFlags(pod.command("stop"))
    .description("ask every program of a pod to end, and kill those that have not in time")
    .argument("<pod>", whichPod)
    .option("--grace <seconds>", "how long they have, from 0 to 3600; 10 if absent", parseSeconds)
    .action(async (name, options) => onExit(await (await commands()).stopPod(name, options, context)));
  withChangeFlags(pod.command("kill"))
    .description("send a signal to every program of a pod")
    .argument("<pod>", whichPod)
    .option("--signal <name>", "which one, e.g. SIGHUP; SIGKILL if absent", parseSignalOption)
    .action(async (name, options) => onExit(await (await commands()).killPod(name, options, context)));
  withChangeFlags(pod.command("remove"))
    .description("remove a pod with its containers and what they have written")
    .argument("<pod>", "its id or its name")
    .option("--force", "also if it runs")
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
    .description("pull an image from the registry that its name says")
    .argument("<reference>", "its full name with the tag, e.g. docker.io/library/busybox:1.35")
    .action(async (name, options) => onExit(await (await commands()).pullImage(name, options, context)));
  withChangeFlags(image.command("remove"))
    .description("remove an image with all its names")
    .argument("<image>", "its id, or one of its names with the tag")
    .option("--force", "also if containers use it: they are removed with it")
    .action(async (name, options) => onExit(await (await commands()).removeImage(name, options, context)));
}

function withChangeFlags(command: Command): Command {
  return withTargetFlags(command)
    .option("--wait", "tell how far it is until it has ended; fails unless it completes")
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
