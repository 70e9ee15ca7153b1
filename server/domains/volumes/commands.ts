import {
  InventoryService,
  type Resource,
  ResourceHealthSchema,
  ResourceSchema,
} from "../../../gen/hostplane/v1/inventory_pb.ts";
import { LVService, VGService, type WatchItem, WatchItemSchema } from "../../../gen/lvmd/served/lvmd_pb.ts";
import { change, list, type Noun, show, watch } from "../../cli/table/command.ts";
import { enumText } from "../../cli/table/enum-text.ts";
import { inventoryNotes } from "../../cli/table/inventory-notes.ts";
import {
  argument,
  choice,
  nameOf,
  option,
  optionList,
  requiredOption,
  size,
  withDefault,
  word,
} from "../../cli/table/parameter.ts";
import { printableLine } from "../../cli/table/printable-line.ts";
import { anyName, inventoryReference } from "../../cli/table/reference.ts";
import { sizeText } from "../../cli/table/size-text.ts";
import { timeText } from "../../cli/table/time-text.ts";
import { figureText, watchResources } from "../../cli/table/watch-resources.ts";

const volumes = inventoryReference("volume", "volume", anyName);

const volume = argument("name of the volume", nameOf("name", volumes));
const deviceClass = option("device class (default: the configured default class)", word("name"));
const tag = optionList("an LVM tag to put on it", word("tag"));

/** Volumes and thin pools, as the inventory has them: of all device classes. */
const filter = { types: ["volume", "thinPool"] };

/** LVM volumes. */
export const volumeNoun: Noun = {
  reference: volumes,
  commands: [
    list({
      name: "list",
      summary: "list the volumes and thin pools of all device classes",
      method: InventoryService.method.listResources,
      request: () => ({ filter }),
      schema: ResourceSchema,
      items: (response) => response.resources,
      columns: {
        HOST: "host",
        NAME: "title",
        TYPE: "type",
        GROUP: groupOf,
        SIZE: (item) => figureOf(item, "size"),
        USED: (item) => figureOf(item, "data_used"),
        STATE: "state",
        TAGS: (item) => tagsOf(item).join(","),
      },
      id: (item) => item.title,
      optionalColumns: ["HOST"],
      notes: inventoryNotes,
      watch: watchResources(...filter.types),
    }),
    show({
      name: "show",
      summary: "show a volume",
      parameters: { volume },
      method: InventoryService.method.listResources,
      request: (values) => ({ filter: { ...filter, search: values.volume } }),
      schema: ResourceSchema,
      item: ({ resources }, values) => {
        const named = resources.filter(({ title }) => title === values.volume);
        const [found, ...others] = named;
        if (found === undefined) {
          throw new Error(`volume ${values.volume} not found`);
        }
        if (others.some(({ host }) => host !== found.host)) {
          const hosts = named.map(({ host }) => host).join(", ");
          throw new Error(`several hosts have a volume ${values.volume}: add --host with one of ${hosts}`);
        }
        return found;
      },
      id: (item) => item.title,
      view: (item) => ({
        facts: [
          ["name", item.title],
          ["host", item.host],
          ["type", item.type],
          ["group", groupOf(item)],
          ["state", item.state],
          ["health", enumText(ResourceHealthSchema, item.health)],
          ["size", figureOf(item, "size")],
          ["used", figureOf(item, "data_used")],
          ...tagsOf(item).map((each) => ["tag", each] as const),
          ["resource", item.name],
          ["read", timeText(item.readTime)],
        ],
      }),
    }),
    list({
      name: "classes",
      summary: "list the device classes with their free space",
      method: VGService.method.watch,
      schema: WatchItemSchema,
      items: (response) => response.items,
      columns: {
        CLASS: "deviceClass",
        SIZE: "sizeBytes",
        FREE: "freeBytes",
        "THIN POOL": (item) =>
          item.thinPool === undefined ? "" : `${item.thinPool.dataPercent.toFixed(1)} % used`,
      },
      id: (item) => item.deviceClass,
      watch: watch({
        method: VGService.method.watch,
        createLines:
          () =>
          ({ items }) => [items.map(classLine).join(", ")],
      }),
    }),
    change({
      name: "create",
      summary: "create a volume",
      parameters: {
        name: argument("name of the new volume", word("name")),
        size: requiredOption("size of the volume, such as 10GiB", size),
        deviceClass,
        optionClass: option("name of configured options for lvcreate", word("name")),
        tag,
      },
      method: LVService.method.createLV,
      request: ({ name, size: sizeBytes, deviceClass: ofClass = "", optionClass = "", tag: tags }) => ({
        name,
        sizeBytes,
        deviceClass: ofClass,
        tags: [...tags],
        // With `sizeBytes` this field has the option class.
        sourceOrOptionClass: optionClass === "" ? [] : [new TextEncoder().encode(optionClass)],
      }),
      done: (response, values) =>
        `created the volume ${values.name}: ${sizeText(response.volume?.sizeBytes || values.size)}${pathText(response.volume?.path)}`,
    }),
    change({
      name: "resize",
      summary: "set the size of a volume; volumes only grow",
      parameters: { name: volume, size: argument("the new size, such as 20GiB", size), deviceClass },
      method: LVService.method.resizeLV,
      done: (response, values) =>
        `resized the volume ${values.name} to ${sizeText(response.sizeBytes || values.size)}`,
    }),
    change({
      name: "snapshot",
      summary: "create a snapshot of a volume",
      parameters: {
        sourceVolume: volume,
        name: argument("name of the snapshot", word("name")),
        size: option("size of the snapshot (default: that of the volume)", size),
        accessType: withDefault("rw", "access to the snapshot", choice("access", ["ro", "rw"])),
        deviceClass,
        tag,
      },
      method: LVService.method.createLVSnapshot,
      done: (response, values) =>
        `created the snapshot ${values.name} of ${values.sourceVolume}${pathText(response.snapshot?.path)}`,
      id: (_response, values) => values.name,
    }),
    change({
      name: "remove",
      summary: "remove a volume; its data is lost",
      parameters: { name: volume, deviceClass },
      method: LVService.method.removeLV,
      destroys: true,
      done: (_response, values) => `removed the volume ${values.name}`,
    }),
  ],
};

/** Returns `vg0` of `volumeGroups/vg0/volumes/data`. */
function groupOf({ name }: Resource): string {
  return name.split("/")[1] ?? "";
}

function figureOf({ figures }: Resource, name: string): string {
  const found = figures.find((figure) => figure.name === name);
  return found === undefined ? "" : figureText(found.value, found.unit);
}

function tagsOf({ labels }: Resource): string[] {
  return Object.entries(labels).map(([key, value]) => (value === "" ? key : `${key}=${value}`));
}

function pathText(path: string | undefined): string {
  return path === undefined || path === "" ? "" : `, ${path}`;
}

function classLine({ deviceClass: name, freeBytes, sizeBytes }: WatchItem): string {
  return printableLine(`${name}: ${sizeText(freeBytes)} of ${sizeText(sizeBytes)} free`);
}
