import {
  InventoryService,
  type ListResourcesResponse,
  type ResourceHealth,
  ResourceHealthSchema,
  ResourceSchema,
} from "../../../gen/hostplane/v1/inventory_pb.ts";
import { list, type Noun } from "../../cli/table/command.ts";
import { argumentList, enumChoice, option, optionList, word } from "../../cli/table/parameter.ts";
import { timeText } from "../../cli/table/time-text.ts";
import { figuresText, watchInventory } from "../../cli/table/watch-resources.ts";

const parameters = {
  type: argumentList("only these types, e.g. volume pod", word("type"), { isRequired: false }),
  search: option(
    "only resources in whose name, type, title, state, labels or host all words occur",
    word("words"),
  ),
  state: optionList("only this state, as the table shows it", word("state")),
  health: optionList("only this health", enumChoice("health", ResourceHealthSchema, { hasUnknown: true })),
  label: optionList("only with this label: `key` or `key=value`", word("label")),
  order: option(
    "name (default), host, title, type, state, health or a figure; `desc` reverses: 'size desc'",
    word("key"),
  ),
};

interface Filters {
  readonly type: readonly string[];
  readonly search: string | undefined;
  readonly state: readonly string[];
  readonly health: readonly ResourceHealth[];
  readonly label: readonly string[];
}

/** Resources of all domains. */
export const getNoun: Noun = {
  commands: [
    list({
      name: "",
      summary: "list resources of all domains: volumes, hypervisors, pods, OSDs, clusters, backups, ...",
      parameters,
      method: InventoryService.method.listResources,
      request: ({ order = "", ...filters }) => ({ filter: filterFrom(filters), orderBy: order }),
      schema: ResourceSchema,
      items: (response) => response.resources,
      columns: {
        HOST: "host",
        TYPE: "type",
        TITLE: "title",
        STATE: "state",
        HEALTH: "health",
        FIGURES: figuresText,
        LABELS: (item) =>
          Object.entries(item.labels)
            .map(([key, value]) => (value === "" ? key : `${key}=${value}`))
            .join(" "),
        NAME: "name",
      },
      optionalColumns: ["HOST"],
      notes: inventoryNotes,
      watch: watchInventory(filterFrom),
    }),
  ],
};

function filterFrom({ type, search = "", state, health, label }: Filters) {
  return {
    types: [...type],
    search,
    states: [...state],
    health: [...health],
    labels: Object.fromEntries(label.map(labelFrom)),
  };
}

function labelFrom(text: string): readonly [string, string] {
  const end = text.indexOf("=");
  return end === -1 ? [text, ""] : [text.slice(0, end), text.slice(end + 1)];
}

/** Describes the domains and hosts whose resources are missing, old or incomplete, one a line. */
function inventoryNotes({ problems, hosts }: ListResourcesResponse): string[] {
  return [
    ...problems.map(({ host, domain, message }) => `${host === "" ? "" : `${host}: `}${domain}: ${message}`),
    ...hosts
      .filter(({ message }) => message !== "")
      .map(({ message, readTime }) =>
        readTime === undefined ? message : `${message}; its resources are as of ${timeText(readTime)}`,
      ),
  ];
}
