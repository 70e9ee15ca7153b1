import type { Host } from "../../gen/hostplane/v1/fleet_pb.ts";
import type { Resource } from "../../gen/hostplane/v1/inventory_pb.ts";
import type { Operation, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { addressOfHost, addressOfHosts, addressOfHub } from "../host/address-of-host.ts";
import { keyOfResource } from "../host/key-of-resource.ts";
import type { IconName } from "../parts/icon.tsx";
import type { StatusKind } from "../parts/status.tsx";
import { actorText } from "../parts/text/actor-text.ts";
import { labelTexts } from "../parts/text/label-texts.ts";
import { kindOf, statusOfResource } from "../resources/kinds.ts";
import type { PageEntry } from "./pages.ts";

/** A line of the command palette. */
export interface PaletteEntry {
  readonly id: string;
  readonly section: "Run" | "Go to" | "Hosts" | "Other hosts" | "Operations";
  readonly icon: IconName;
  readonly text: string;
  readonly detail: string;
  readonly status?: StatusKind;
  readonly operationState?: OperationState;
  /** Absolute path to open; without it `run` is called. */
  readonly path?: string;
  readonly run?: () => void;
  /** Address of a page that has to be loaded, as that of a host. */
  readonly address?: string;
}

export interface PaletteSources {
  readonly pages: readonly PageEntry[];
  /** Empty unless the gateway is a hub. */
  readonly hosts: readonly Host[];
  readonly resources: ReadonlyMap<string, Resource>;
  /** What the hub has found for the same words on other hosts. */
  readonly onOtherHosts: readonly Resource[];
  readonly operations: ReadonlyMap<string, Operation>;
}

/** Lines of each section at most; more words find the others. */
const shownPerSection = 6;
/** Lines of hosts at most, where hosts are all there is. */
const shownHosts = 100;

/** Returns what matches all words: what to run, where to go, and operations. Without words only the pages. */
export function findEntries(
  text: string,
  { pages, hosts, resources, onOtherHosts, operations }: PaletteSources,
): readonly PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const pageEntries = pages.map((page) => pageEntry(page)).filter((entry) => matches(entry, words));
  if (words.length === 0) {
    return pageEntries;
  }
  const run: PaletteEntry[] = [];
  const goTo: PaletteEntry[] = [...pageEntries];
  for (const resource of resources.values()) {
    const kind = kindOf(resource);
    const entry: PaletteEntry = {
      id: resource.name,
      section: "Go to",
      icon: kind.icon,
      text: resource.title,
      detail: `${kind.title} ${kind.placeOf?.(resource) ?? ""}`.trim(),
      status: statusOfResource(resource),
      path: kind.pathOf(resource),
    };
    if (goTo.length < shownPerSection && matches(entry, words)) {
      goTo.push(entry);
    }
    if (run.length < shownPerSection && words.some((word) => entry.text.toLowerCase().includes(word))) {
      run.push(...actionEntries(resource, entry).filter((action) => matches(action, words)));
    }
    if (run.length >= shownPerSection && goTo.length >= shownPerSection) {
      break;
    }
  }
  const found = [...operations.values()].reverse().map(operationEntry);
  return [
    ...run.slice(0, shownPerSection),
    ...goTo.slice(0, shownPerSection),
    ...hosts
      .map(hostEntry)
      .filter((entry) => matches(entry, words))
      .slice(0, shownPerSection),
    ...onOtherHosts.map(otherHostEntry),
    ...found.filter((entry) => matches(entry, words)).slice(0, shownPerSection),
  ];
}

/** Returns the hosts that match all words, after an entry for the page of them all. */
export function findHosts(text: string, hosts: readonly Host[]): readonly PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const all: PaletteEntry = {
    id: "hosts",
    section: "Go to",
    icon: "list",
    text: "All hosts",
    detail: "of the hub",
    address: addressOfHosts,
  };
  return [all, ...hosts.map(hostEntry)].filter((entry) => matches(entry, words)).slice(0, shownHosts);
}

function hostEntry(host: Host): PaletteEntry {
  const { name, labels, connected } = host;
  return {
    id: `host ${name}`,
    section: "Hosts",
    icon: "server",
    text: name,
    detail: [connected ? "" : "not connected", ...labelTexts(labels)].filter(Boolean).join(" "),
    status: connected ? "ok" : "failed",
    address: addressOfHost(name),
  };
}

/** A resource of another host, or of the hub itself. */
function otherHostEntry(resource: Resource): PaletteEntry {
  const { host, title } = resource;
  const kind = kindOf(resource);
  const path = kind.pathOf(resource);
  return {
    id: keyOfResource(resource),
    section: "Other hosts",
    icon: kind.icon,
    text: title,
    detail: `${kind.title} on ${host || "the hub"}`,
    status: statusOfResource(resource),
    address: host === "" ? addressOfHub(path) : addressOfHost(host, path),
  };
}

function pageEntry({ path, title, icon }: PageEntry): PaletteEntry {
  return { id: path, section: "Go to", icon, text: title, detail: "page", path };
}

function actionEntries(resource: Resource, { detail }: PaletteEntry): readonly PaletteEntry[] {
  const actions = kindOf(resource).actions();
  return actions
    .filter(({ appliesTo }) => appliesTo?.(resource) ?? true)
    .map(({ text, icon = "open", run }) => ({
      id: `${text} ${resource.name}`,
      section: "Run",
      icon,
      text: `${text.replace("…", "")} ${resource.title}…`,
      detail,
      run: () => run(resource),
    }));
}

function operationEntry({ id, kind, resource, fleetHost, state, actor }: Operation): PaletteEntry {
  return {
    id,
    section: "Operations",
    icon: "pulse",
    text: `${kind} ${resource.split("/").at(-1)}`,
    detail: `${actorText(actor)}${fleetHost === "" ? "" : ` on ${fleetHost}`}`,
    operationState: state,
    path: `/operations/${id}`,
  };
}

function matches({ text, detail }: PaletteEntry, words: readonly string[]): boolean {
  const all = `${text} ${detail}`.toLowerCase();
  return words.every((word) => all.includes(word));
}
