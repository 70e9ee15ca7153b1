import { toJson } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type PodImage, PodImageSchema } from "../../gen/hostplane/v1/pod_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { printableLine } from "../cli/table/printable-line.ts";
import { sizeText } from "../cli/table/size-text.ts";
import { textTable } from "../cli/table/text-table.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";
import { type BeginOperationOptions, beginOperation } from "./begin-operation.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

const head = ["ID", "NAMES", "SIZE", "CONTAINERS", "BUILT", "IMPORTED"];

/** Prints the images, as a table or as a JSON array of the API's messages. */
export function listImages(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  const work = async ({ pods }: AdminClient) => {
    const { images } = await pods.listImages({});
    const lines =
      options.json === true
        ? [JSON.stringify(images.map(jsonOf), null, 2)]
        : textTable(head, images.map(imageRow));
    for (const line of lines) {
      context.output.out(line);
    }
  };
  return runAdminCommand(options, context, work, { mustRun: true });
}

/** Starts pulling an image. */
export function pullImage(
  reference: string,
  options: BeginOperationOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return beginOperation(options, context, ({ pods }) => pods.pullImage({ reference }));
}

/** Starts removing an image. */
export function removeImage(
  image: string,
  options: BeginOperationOptions & { readonly force?: boolean },
  context: CommandContext,
): Promise<ExitCode> {
  const { force = false } = options;
  return beginOperation(options, context, ({ pods }) => pods.removeImage({ image, force }));
}

function imageRow({ id, names, sizeBytes, containerCount, builtAt, importedAt }: PodImage): string[] {
  const named = names.map(printableLine).join(", ");
  return [id, named, sizeText(sizeBytes), String(containerCount), timeText(builtAt), timeText(importedAt)];
}

function jsonOf(image: PodImage) {
  return toJson(PodImageSchema, image, { alwaysEmitImplicit: true });
}

function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}
