import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import type { SetVolumeTagsRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { ShortChange } from "../../../domain/short-change.ts";
import { reservedTagStart } from "../../../lvm/operation-marks.ts";
import { assertWhole } from "../../../lvm/volume-refusals.ts";
import { assertResolved, findDeviceClass } from "../device-class.ts";
import { assertNotOfOperation } from "../protection.ts";
import {
  assertChangeable,
  assertTags,
  factsOfVolume,
  requireVolume,
  stepOf,
  targetOf,
  type VolumeChangeParts,
  type VolumeSpec,
} from "./volume-change.ts";

export interface TagsSpec extends VolumeSpec {
  readonly tags: readonly string[];
}

/** volumes.setTags: adds and removes tags until a volume has exactly these. There is no step if it already has them. */
export function createSetVolumeTags(
  parts: VolumeChangeParts,
): ShortChange<SetVolumeTagsRequest, TagsSpec, LvmState> {
  return {
    /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD, VOLUME_PROTECTED */
    parse({ name, deviceClass: className, tags }) {
      const deviceClass = findDeviceClass(parts.deviceClasses, className);
      assertChangeable(name, deviceClass);
      assertTags(tags);
      return { name, deviceClass, tags };
    },

    targetOf,

    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_NOT_FOUND, VOLUME_PROTECTED */
    check({ name, deviceClass, tags }, state) {
      const resolved = assertResolved(deviceClass, state);
      const { group } = resolved;
      const volume = requireVolume(resolved, state, name);
      assertNotOfOperation(volume);
      const addTags = [...new Set(tags)].filter((tag) => !volume.tags.includes(tag));
      const removeTags = volume.tags.filter(
        (tag) => !tags.includes(tag) && !tag.startsWith(reservedTagStart),
      );
      const isSame = addTags.length === 0 && removeTags.length === 0;
      const step = { kind: "changeTags", volumeGroupName: group.name, name, addTags, removeTags } as const;
      const place = `${group.name}/${name}`;
      return {
        kind: "volumes.setTags",
        resource: volumeResource(group.name, name),
        backend: group.uuid,
        plan: {
          changes: [
            ...(addTags.length === 0 ? [] : [`${place} gets the tags ${addTags.join(", ")}`]),
            ...(removeTags.length === 0 ? [] : [`${place} loses the tags ${removeTags.join(", ")}`]),
          ],
          losses: [],
          facts: factsOfVolume(volume),
        },
        steps: isSame ? [] : [stepOf(parts.lvm, step)],
        pointOfNoReturn: 0,
      };
    },

    /** @throws InfraError VOLUME_GROUP_GONE */
    preflight({ deviceClass }, state) {
      assertWhole(assertResolved(deviceClass, state).group);
    },
  };
}
