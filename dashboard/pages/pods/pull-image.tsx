import { useSignal } from "@preact/signals";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { TextField } from "../../parts/form/text-field.tsx";

/** Pulls an image from its registry. */
export function PullImage() {
  const text = useSignal("");
  const reference = text.value.trim();
  return (
    <ChangeForm
      title={`Pull ${reference}`}
      label="Pull"
      method={PodService.method.pullImage}
      request={reference === "" ? undefined : { reference }}
      fields={["reference"]}
    >
      {({ errorOf }) => (
        <TextField
          label="Image"
          value={text}
          hint="Its full name with registry and tag, such as docker.io/library/busybox:1.35"
          error={errorOf("reference")}
          required
        />
      )}
    </ChangeForm>
  );
}
