import { useSignal } from "@preact/signals";
import { type PodImage, PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { useProposal } from "../../action/use-proposal.ts";
import { useRead } from "../../live/use-read.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client, hasRole } from "../../session.ts";
import "./pods.css";

const columns: readonly Column<PodImage>[] = [
  { title: "Image", cell: Names },
  { title: "Size", cell: ({ sizeBytes }) => sizeText(sizeBytes), isNumber: true },
  { title: "Built", cell: ({ builtAt }) => <TimeText at={builtAt} /> },
  { title: "Used by", cell: ({ containerCount }) => usesText(containerCount) },
];

/** The images of this host. Operators can pull and remove them. */
export function Images() {
  const { reading } = useRead((options) => client.pods.listImages({}, options), { topics: ["pods"] });
  const mayChange = hasRole(Role.OPERATOR);
  const change = { title: "Change", cell: RemoveImage };
  return (
    <section class="card stack">
      <ReadState of={reading}>
        {({ images }) => (
          <DataTable
            caption="Images"
            columns={mayChange ? [...columns, change] : columns}
            rows={images}
            keyOf={({ id }) => id}
            empty="No images."
          />
        )}
      </ReadState>
      {mayChange && <PullImage />}
    </section>
  );
}

function Names({ id, names }: PodImage) {
  return (
    <>
      {names.map((name) => (
        <div key={name}>
          <code>{name}</code>
        </div>
      ))}
      <div class="quiet">
        <code>{id.slice(0, 12)}</code>
        {names.length === 0 && " without a name"}
      </div>
    </>
  );
}

function usesText(containerCount: number): string {
  return containerCount === 0
    ? "none"
    : containerCount === 1
      ? "1 container"
      : `${containerCount} containers`;
}

function RemoveImage({ id, names, containerCount }: PodImage) {
  const name = names[0] ?? id.slice(0, 12);
  return (
    <button
      type="button"
      class="small danger"
      aria-label={`Remove ${name}`}
      onClick={() =>
        propose({
          title: `Remove the image ${name}`,
          label: containerCount > 0 ? "Remove with its containers" : "Remove",
          method: PodService.method.removeImage,
          request: { image: id, force: containerCount > 0 },
          isDangerous: true,
        })
      }
    >
      Remove
    </button>
  );
}

function PullImage() {
  const reference = useSignal("");
  const form = useProposal(["reference"]);
  return (
    <form
      class="stack pull-image"
      aria-label="Pull an image"
      onSubmit={(event) => {
        event.preventDefault();
        void form.submit({
          title: `Pull ${reference.value.trim()}`,
          label: "Pull",
          method: PodService.method.pullImage,
          request: { reference: reference.value.trim() },
          onDone: () => {
            reference.value = "";
          },
        });
      }}
    >
      <TextField
        label="Image to pull"
        value={reference}
        hint="Its full name with registry and tag, such as docker.io/library/busybox:1.35"
        error={form.errorOf("reference")}
        required
      />
      {form.error !== undefined && <ErrorNote error={form.error} />}
      <button type="submit" disabled={form.isChecking}>
        Pull …
      </button>
    </form>
  );
}
