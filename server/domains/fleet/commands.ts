import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  FleetService,
  type Host,
  HostSchema,
  MembershipSchema,
  MembershipService,
} from "../../../gen/hostplane/v1/fleet_pb.ts";
import { BackendHealth, BackendKind } from "../../../gen/hostplane/v1/system_pb.ts";
import { change, list, type Noun, show } from "../../cli/table/command.ts";
import { argument, duration, nameOf, option, optionList, word } from "../../cli/table/parameter.ts";
import { anyName, type Reference } from "../../cli/table/reference.ts";
import { timeText } from "../../cli/table/time-text.ts";
import { labelsFromWords } from "./labels-from-words.ts";
import { namesOfHosts } from "./names-of-hosts.ts";

const hosts: Reference = {
  noun: "host",
  fullId: anyName,
  async list(session) {
    return (await namesOfHosts(session)).map((name) => ({ id: name, names: [] }));
  },
};

const host = argument("name of the host", nameOf("name", hosts));
const labels = optionList("a label, as NAME=VALUE", word("label"));

/** The hosts of a fleet, and this gateway as one of them. */
export const hostNoun: Noun = {
  reference: hosts,
  commands: [
    list({
      name: "list",
      summary: "list the hosts of the fleet",
      parameters: { label: labels },
      method: FleetService.method.listHosts,
      request: ({ label }) => ({ labels: labelsFromWords(label) }),
      schema: HostSchema,
      items: (response) => response.hosts,
      columns: {
        NAME: "name",
        CONNECTED: connectedText,
        "LAST SEEN": (item) => timeText(item.lastSeenAt),
        VERSION: (item) => item.report?.version ?? "",
        SYSTEMS: systemsText,
        LABELS: (item) => labelsText(item.labels),
        PROBLEM: "problem",
      },
    }),
    change({
      name: "token",
      summary: "create a token with which one host may join the fleet",
      parameters: {
        name: option("only for a host of this name", word("name")),
        label: labels,
        lifetime: option("how long it can be used, such as 30m (default: 1h)", duration),
      },
      method: FleetService.method.createHostToken,
      request: ({ name = "", label, lifetime }) => ({
        host: name,
        labels: labelMessages(label),
        ...(lifetime === undefined ? {} : { lifetime: durationFromMs(lifetime) }),
      }),
      done: (response) => response.token,
      id: (response) => response.token,
      notes: (response) => [
        `valid for one host until ${timeText(response.expiresAt)}; run on that host: hostplane host join TOKEN`,
      ],
    }),
    change({
      name: "label",
      summary: "replace the labels of a host; without labels, remove them all",
      parameters: { name: host, label: labels },
      method: FleetService.method.setHostLabels,
      request: ({ name, label }) => ({ name, labels: labelMessages(label) }),
      done: (response, values) => `labels of ${values.name}: ${labelsText(response.host?.labels ?? {})}`,
    }),
    change({
      name: "remove",
      summary: "remove a host from the fleet; the host itself keeps running",
      destroys: true,
      parameters: { name: host },
      method: FleetService.method.removeHost,
      done: (_response, values) => `removed the host ${values.name} from the fleet`,
    }),
    change({
      name: "join",
      summary: "on a host: join the fleet that has issued a token",
      isPlannable: false,
      parameters: {
        token: argument("token of `hostplane host token` on a hub", word("token")),
        name: option("name of this host in the fleet (default: its host name)", word("name")),
      },
      method: MembershipService.method.joinFleet,
      request: ({ token, name = "" }) => ({ token, name }),
      done: ({ membership }) =>
        `joined the fleet as ${membership?.name}; connected to ${membership?.hubs.filter(({ connected }) => connected).length} of ${membership?.hubs.length} hubs`,
      id: ({ membership }) => membership?.name ?? "",
    }),
    change({
      name: "leave",
      summary: "on a host: leave the fleet",
      isPlannable: false,
      destroys: true,
      method: MembershipService.method.leaveFleet,
      done: () => "left the fleet",
      id: () => "",
    }),
    show({
      name: "status",
      summary: "on a host: show its membership in a fleet, and the connections to the hubs",
      method: MembershipService.method.getMembership,
      schema: MembershipSchema,
      item: (response) => response.membership,
      view: ({ name, fleetId, certificateExpiresAt, hubs }) => ({
        facts: [
          ["name", name],
          ["fleet", fleetId],
          ["certificate", `until ${timeText(certificateExpiresAt)}`],
        ],
        tables: [
          {
            head: ["HUB", "CONNECTED", "PROBLEM"],
            rows: hubs.map(({ address, connected, problem }) => [address, connected ? "yes" : "no", problem]),
          },
        ],
      }),
    }),
  ],
};

/** Names the hubs that a host is connected to, unless it is connected to this one. */
function connectedText({ connected, hubs }: Host): string {
  if (connected) {
    return "yes";
  }
  return hubs.length === 0 ? "no" : `to ${hubs.join(", ")} only`;
}

/** Names the systems of a host that are on, each once. Unhealthy ones are marked with `!`. Its store is not one of them. */
function systemsText({ report }: Host): string {
  const systems = (report?.backends ?? []).filter(
    ({ kind, domain }) => domain !== "system" && (kind === BackendKind.REAL || kind === BackendKind.SANDBOX),
  );
  const byName = Map.groupBy(systems, ({ name }) => name);
  return [...byName]
    .map(([name, all]) => (all.every(({ health }) => health === BackendHealth.OK) ? name : `${name}!`))
    .join(", ");
}

function labelMessages(words: readonly string[]): { name: string; value: string }[] {
  return Object.entries(labelsFromWords(words)).map(([name, value]) => ({ name, value }));
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}
