import { enumToJson, toJson } from "@bufbuild/protobuf";
import {
  type DomainProblem,
  type ListResourcesRequest,
  type Resource,
  ResourceHealth,
  ResourceHealthSchema,
  ResourceSchema,
} from "../../gen/hostplane/v1/inventory_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { printableLine } from "../cli/table/printable-line.ts";
import { sizeText } from "../cli/table/size-text.ts";
import { textTable } from "../cli/table/text-table.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

export interface GetOptions extends AdminOptions {
  readonly search?: string;
  readonly state?: readonly string[];
  readonly health?: readonly (keyof typeof healthByName)[];
  /** `key=value`, or `key` for any value. */
  readonly label?: readonly string[];
  readonly order?: string;
}

/** Values of `--health`. */
export const healthByName = {
  ok: ResourceHealth.OK,
  degraded: ResourceHealth.DEGRADED,
  failed: ResourceHealth.FAILED,
  unknown: ResourceHealth.UNSPECIFIED,
} as const;

const pageSize = 1000;

/**
 * Prints the resources of all domains, as a table or as a JSON array of the API's messages. Prints on stderr which domains are missing or
 * stale.
 * @param types empty: all
 */
export function getResources(
  types: readonly string[],
  options: GetOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { output } = context;
  const request = requestFrom(types, options);
  const work = async (client: AdminClient) => {
    const { resources, problems } = await readAll(client, request);
    for (const { domain, message } of problems) {
      output.err(printableLine(`${domain}: ${message}`));
    }
    if (options.json === true) {
      output.out(
        JSON.stringify(
          resources.map((resource) => toJson(ResourceSchema, resource)),
          null,
          2,
        ),
      );
      return;
    }
    for (const line of resourceLines(resources)) {
      output.out(line);
    }
  };
  return runAdminCommand(options, context, work, { mustRun: true });
}

type Request = Pick<Partial<ListResourcesRequest>, "orderBy"> & {
  readonly filter: NonNullable<Parameters<AdminClient["inventory"]["listResources"]>[0]["filter"]>;
};

function requestFrom(
  types: readonly string[],
  { search = "", state = [], health = [], label = [], order = "" }: GetOptions,
): Request {
  return {
    filter: {
      types: [...types],
      search,
      states: [...state],
      health: health.map((name) => healthByName[name]),
      labels: Object.fromEntries(label.map(labelFrom)),
    },
    orderBy: order,
  };
}

function labelFrom(text: string): readonly [string, string] {
  const end = text.indexOf("=");
  return end === -1 ? [text, ""] : [text.slice(0, end), text.slice(end + 1)];
}

async function readAll(
  { inventory }: AdminClient,
  request: Request,
): Promise<{ readonly resources: readonly Resource[]; readonly problems: readonly DomainProblem[] }> {
  const resources: Resource[] = [];
  let pageToken = "";
  for (;;) {
    const page = await inventory.listResources({ ...request, pageSize, pageToken });
    resources.push(...page.resources);
    if (page.nextPageToken === "") {
      return { resources, problems: page.problems };
    }
    pageToken = page.nextPageToken;
  }
}

/** Formats resources as a table. */
export function resourceLines(resources: readonly Resource[]): readonly string[] {
  const rows = resources.map(({ name, type, title, state, health, figures, labels }) => [
    type,
    title,
    state,
    healthText(health),
    figures.map(({ name, value, unit }) => `${name} ${figureText(value, unit)}`).join(", "),
    Object.entries(labels)
      .map(([key, value]) => (value === "" ? key : `${key}=${value}`))
      .join(" "),
    name,
  ]);
  return textTable(["TYPE", "TITLE", "STATE", "HEALTH", "FIGURES", "LABELS", "NAME"], rows).map(
    printableLine,
  );
}

function healthText(health: ResourceHealth): string {
  const name = String(enumToJson(ResourceHealthSchema, health)).replace("RESOURCE_HEALTH_", "").toLowerCase();
  return name === "unspecified" ? "unknown" : name;
}

function figureText(value: number, unit: string): string {
  if (unit === "bytes") {
    return sizeText(BigInt(Math.round(value)));
  }
  return unit === "percent" ? `${Number(value.toFixed(1))} %` : String(value);
}
