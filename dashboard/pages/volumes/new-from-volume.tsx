import type { MessageInitShape } from "@bufbuild/protobuf";
import { useSignal } from "@preact/signals";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import {
  type CloneVolumeRequestSchema,
  type CreateSnapshotRequestSchema,
  VolumeService,
} from "../../../gen/hostplane/v1/volume_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { deviceClassOf } from "./volume-facts.ts";
import { parseTags } from "./volume-tags.ts";

interface Props {
  readonly volume: Resource;
}

/** Creates a snapshot of a volume. */
export function CreateSnapshot({ volume }: Props) {
  return (
    <NewFromVolume
      volume={volume}
      what="snapshot"
      hint="It keeps the present content, and takes space as the two diverge."
      method={VolumeService.method.createSnapshot}
    />
  );
}

/** Creates an independent volume with the content of another one. */
export function CloneVolume({ volume }: Props) {
  return (
    <NewFromVolume
      volume={volume}
      what="clone"
      hint="An independent volume. A thick volume is copied by an operation, and can stay in use."
      method={VolumeService.method.cloneVolume}
    />
  );
}

function NewFromVolume(
  props: Props & {
    readonly what: string;
    readonly hint: string;
    readonly method: typeof VolumeService.method.createSnapshot | typeof VolumeService.method.cloneVolume;
  },
) {
  const { volume, what, hint, method } = props;
  const name = useSignal(`${volume.title}-${what}`);
  const tags = useSignal("");
  const request = {
    source: volume.title,
    name: name.value,
    deviceClass: deviceClassOf(volume),
    tags: parseTags(tags.value),
  } satisfies MessageInitShape<typeof CreateSnapshotRequestSchema> &
    MessageInitShape<typeof CloneVolumeRequestSchema>;
  const form = {
    title: `Create a ${what} of ${volume.title}`,
    label: `Create the ${what}`,
    request: name.value === "" ? undefined : request,
    fields: ["name", "tags"],
    fieldOfReason: { VOLUME_EXISTS: "name" },
  };
  const fields = ({ errorOf }: { errorOf(field: string): string | undefined }) => (
    <>
      <TextField label="Name" value={name} hint={hint} error={errorOf("name")} required />
      <TextField label="Tags" value={tags} hint="Optional, separated by spaces" error={errorOf("tags")} />
    </>
  );
  return method === VolumeService.method.createSnapshot ? (
    <ChangeForm {...form} method={VolumeService.method.createSnapshot}>
      {fields}
    </ChangeForm>
  ) : (
    <ChangeForm {...form} method={VolumeService.method.cloneVolume}>
      {fields}
    </ChangeForm>
  );
}
