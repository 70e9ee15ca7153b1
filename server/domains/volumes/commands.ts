import { ThinPoolSchema, VolumeSchema, VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { VGService, type WatchItem, WatchItemSchema } from "../../../gen/lvmd/served/lvmd_pb.ts";
import { change, list, type Noun, operation, show, watch } from "../../cli/table/command.ts";
import {
  argument,
  choice,
  flag,
  nameOf,
  option,
  optionalArgument,
  optionList,
  requiredOption,
  size,
  withDefault,
  word,
} from "../../cli/table/parameter.ts";
import { printableLine } from "../../cli/table/printable-line.ts";
import { anyName, inventoryReference } from "../../cli/table/reference.ts";
import { sizeText } from "../../cli/table/size-text.ts";
import { UsageError } from "../../cli/table/usage-error.ts";
import { watchInventory } from "../../cli/table/watch-resources.ts";
import {
  factsOf,
  kindText,
  ownerNamed,
  ownerText,
  percentText,
  stateText,
  usedText,
} from "./cli/volume-texts.ts";

const volumes = inventoryReference("volume", "volume", anyName);

const volume = argument("name of the volume", nameOf("name", volumes));
const deviceClass = option("device class (default: the configured default class)", word("name"));
const tag = optionList("an LVM tag to put on it", word("tag"));

/** LVM volumes. */
export const volumeNoun: Noun = {
  reference: volumes,
  commands: [
    list({
      name: "list",
      summary: "list the volumes of all device classes",
      parameters: {
        deviceClass: option("volumes of this device class", word("name")),
        owner: option("volumes of this owner", choice("owner", ["topolvm", "csi", "hostplane"])),
        origin: option("snapshots of this volume", nameOf("name", volumes)),
      },
      method: VolumeService.method.listVolumes,
      request: ({ deviceClass: ofClass = "", owner, origin = "" }) => ({
        deviceClass: ofClass,
        origin,
        ...(owner === undefined ? {} : { owner: ownerNamed[owner] }),
      }),
      schema: VolumeSchema,
      items: (response) => response.volumes,
      columns: {
        NAME: "name",
        CLASS: "deviceClass",
        KIND: kindText,
        SIZE: ({ sizeBytes }) => sizeText(sizeBytes),
        USED: usedText,
        ORIGIN: "origin",
        OWNER: ownerText,
        STATE: stateText,
        TAGS: ({ tags }) => tags.join(","),
      },
      id: ({ name }) => name,
      watch: watchInventory((filters: object) => {
        if (Object.values(filters).some((value) => value !== undefined)) {
          throw new Error("--watch follows all volumes: leave out --device-class, --owner and --origin");
        }
        return { types: ["volume"] };
      }),
    }),
    show({
      name: "show",
      summary: "show a volume",
      parameters: {
        name: volume,
        deviceClass: option("device class (default: the only volume of this name)", word("name")),
      },
      method: VolumeService.method.listVolumes,
      schema: VolumeSchema,
      item: ({ volumes: [found, ...others] }, { name }) => {
        if (found === undefined) {
          throw new Error(`volume ${name} not found`);
        }
        if (others.length > 0) {
          throw new Error(`several volumes are named ${name}: add --device-class`);
        }
        return found;
      },
      id: ({ name }) => name,
      view: (item) => ({ facts: factsOf(item) }),
    }),
    list({
      name: "pools",
      summary: "list the thin pools with their use",
      method: VolumeService.method.listThinPools,
      schema: ThinPoolSchema,
      items: (response) => response.thinPools,
      columns: {
        NAME: "name",
        GROUP: "volumeGroup",
        CLASSES: ({ deviceClasses }) => deviceClasses.join(","),
        SIZE: ({ sizeBytes }) => sizeText(sizeBytes),
        USED: ({ dataPercent }) => percentText(dataPercent),
        METADATA: ({ metadataPercent }) => percentText(metadataPercent),
        VOLUMES: ({ volumeCount }) => String(volumeCount),
        PROVISIONED: ({ provisionedBytes }) => sizeText(provisionedBytes),
        STATE: "state",
      },
      id: ({ name }) => name,
      watch: watchInventory(() => ({ types: ["thinPool"] })),
    }),
    change({
      name: "create-pool",
      summary: "create a thin pool",
      parameters: {
        name: argument("name of the new thin pool", word("name")),
        group: argument("volume group", word("group")),
        size: requiredOption("size of the data space, such as 100GiB", size),
        metadataSize: option("size of the metadata space (default: LVM computes it)", size),
        tag,
      },
      method: VolumeService.method.createThinPool,
      request: ({ name, group, size: sizeBytes, metadataSize = 0n, tag: tags }) => ({
        name,
        volumeGroup: group,
        sizeBytes,
        metadataSizeBytes: metadataSize,
        tags: [...tags],
      }),
      done: (response, values) =>
        `created the thin pool ${values.name}: ${sizeText(response.thinPool?.sizeBytes || values.size)}`,
    }),
    change({
      name: "resize-pool",
      summary: "grow a thin pool; pools never shrink",
      parameters: {
        name: argument("name of the thin pool", word("name")),
        group: argument("volume group", word("group")),
        size: option("new size of the data space, such as 200GiB (default: as it is)", size),
        metadataSize: option("new size of the metadata space (default: as it is)", size),
      },
      method: VolumeService.method.resizeThinPool,
      request: ({ name, group, size: sizeBytes = 0n, metadataSize = 0n }) => ({
        name,
        volumeGroup: group,
        sizeBytes,
        metadataSizeBytes: metadataSize,
      }),
      done: ({ thinPool }, values) =>
        thinPool === undefined || thinPool.sizeBytes === 0n
          ? `resized the thin pool ${values.name}`
          : `resized the thin pool ${values.name}: ${sizeText(thinPool.sizeBytes)}, metadata ${sizeText(thinPool.metadataSizeBytes)}`,
    }),
    change({
      name: "remove-pool",
      summary: "remove a thin pool that contains no volumes",
      parameters: {
        name: argument("name of the thin pool", word("name")),
        group: argument("volume group", word("group")),
      },
      method: VolumeService.method.deleteThinPool,
      request: ({ name, group }) => ({ name, volumeGroup: group }),
      destroys: true,
      done: (_response, values) => `removed the thin pool ${values.name}`,
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
      method: VolumeService.method.createVolume,
      request: ({ size: sizeBytes, deviceClass: ofClass = "", optionClass = "", tag: tags, name }) => ({
        name,
        sizeBytes,
        deviceClass: ofClass,
        optionClass,
        tags: [...tags],
      }),
      done: (response, values) =>
        `created the volume ${values.name}: ${sizeText(response.volume?.sizeBytes || values.size)}${pathText(response.volume?.devicePath)}`,
    }),
    change({
      name: "resize",
      summary: "set the size of a volume; volumes only grow",
      parameters: {
        name: volume,
        newSize: optionalArgument("the new size, such as 20GiB, unless --size gives it", size),
        size: option("the new size, as an option like that of create", size),
        fileSystem: flag("grow the file system on it too: ext2, ext3, ext4, and xfs while it is mounted"),
        deviceClass,
      },
      method: VolumeService.method.resizeVolume,
      request: ({ deviceClass: ofClass = "", fileSystem, name, ...sizes }) => ({
        name,
        sizeBytes: givenSize(sizes),
        deviceClass: ofClass,
        resizeFileSystem: fileSystem,
      }),
      done: (response, values) =>
        `resized the volume ${values.name} to ${sizeText(response.volume?.sizeBytes || givenSize(values))}`,
    }),
    operation({
      name: "clone",
      summary: "create a volume with the content of another one",
      parameters: {
        source: volume,
        name: argument("name of the clone", word("name")),
        size: option("size of the clone (default: the size of the source)", size),
        snapshotSpace: option(
          "space for changes to a thick volume while it is copied (default: all that it can need)",
          size,
        ),
        deviceClass,
        tag,
      },
      method: VolumeService.method.cloneVolume,
      request: ({
        source,
        name,
        size: sizeBytes = 0n,
        snapshotSpace = 0n,
        deviceClass: ofClass = "",
        tag: tags,
      }) => ({
        source,
        name,
        deviceClass: ofClass,
        sizeBytes,
        snapshotSpaceBytes: snapshotSpace,
        tags: [...tags],
      }),
      done: (response, values) =>
        `created the clone ${values.name} of ${values.source}${pathText(response.volume?.devicePath)}`,
    }),
    change({
      name: "snapshot",
      summary: "create a snapshot of a volume",
      parameters: {
        source: volume,
        name: argument("name of the snapshot", word("name")),
        space: option("space for differences from a thick volume (default: all that it can need)", size),
        accessType: withDefault("rw", "access to the snapshot", choice("access", ["ro", "rw"])),
        deviceClass,
        tag,
      },
      method: VolumeService.method.createSnapshot,
      request: ({ accessType, space = 0n, deviceClass: ofClass = "", tag: tags, ...names }) => ({
        ...names,
        deviceClass: ofClass,
        spaceBytes: space,
        readOnly: accessType === "ro",
        tags: [...tags],
      }),
      done: (response, values) =>
        `created the snapshot ${values.name} of ${values.source}${pathText(response.volume?.devicePath)}`,
      id: (_response, values) => values.name,
    }),
    operation({
      name: "merge",
      summary:
        "restore a volume from one of its snapshots, which is used up; later writes to the volume are lost",
      parameters: { name: argument("name of the snapshot", nameOf("name", volumes)), deviceClass },
      method: VolumeService.method.mergeSnapshot,
      destroys: true,
    }),
    change({
      name: "rename",
      summary: "rename a volume",
      parameters: { name: volume, newName: argument("the new name", word("name")), deviceClass },
      method: VolumeService.method.renameVolume,
      done: (response, values) =>
        `renamed the volume ${values.name} to ${values.newName}${pathText(response.volume?.devicePath)}`,
      id: (_response, values) => values.newName,
    }),
    change({
      name: "tag",
      summary: "set the LVM tags of a volume; others are removed",
      parameters: {
        name: volume,
        tag: optionList("a tag to set (default: none)", word("tag")),
        deviceClass,
      },
      method: VolumeService.method.setVolumeTags,
      request: ({ name, tag: tags, deviceClass: ofClass = "" }) => ({
        name,
        tags: [...tags],
        deviceClass: ofClass,
      }),
      done: (response, values) =>
        `the volume ${values.name} has the tags: ${response.volume?.tags.join(", ") || "none"}`,
    }),
    operation({
      name: "remove",
      summary: "remove a volume; its data is lost",
      parameters: {
        name: volume,
        deviceClass,
        wipe: flag("overwrite the volume with zeros first, or discard its blocks if it is thin"),
      },
      method: VolumeService.method.deleteVolume,
      destroys: true,
      done: (_response, values) => `removed the volume ${values.name}`,
    }),
  ],
};

function pathText(path: string | undefined): string {
  return path === undefined || path === "" ? "" : `, ${path}`;
}

function classLine({ deviceClass: name, freeBytes, sizeBytes }: WatchItem): string {
  return printableLine(`${name}: ${sizeText(freeBytes)} of ${sizeText(sizeBytes)} free`);
}

/** Returns the size that was given either by its position or as an option. @throws UsageError if it was neither or both */
function givenSize(sizes: {
  readonly newSize: bigint | undefined;
  readonly size: bigint | undefined;
}): bigint {
  const { newSize, size: ofOption } = sizes;
  const [given, other] = newSize === undefined ? [ofOption, newSize] : [newSize, ofOption];
  if (given === undefined || other !== undefined) {
    throw new UsageError(
      given === undefined ? "expected the new size, such as 20GiB" : "expected one size: leave out --size",
    );
  }
  return given;
}
