import { assertImageReference } from "../../../../adapters/podman/names.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import type { PullImageRequest } from "../../../../gen/hostplane/v1/pod_pb.ts";
import type { StepRun } from "../../../operations/operation-kind.ts";
import { imageResource } from "../events/own-changes.ts";
import type { ChangeTools, PodChange } from "./pod-change.ts";
import { maxAttempts } from "./pod-kind.ts";
import { refreshRuntime } from "./refresh-runtime.ts";

/** A type and not an interface, so that it is assignable to Json. */
export type PullInput = { readonly reference: string };

const step = "pull";
const maxMessageLength = 300;

/**
 * images.pull: pulls an image from the registry in its name. A cancellation or gateway stop ends the pull; the runtime may
 * reuse the downloaded parts for the next one.
 */
export function createPullImage({ runtime, own }: ChangeTools): PodChange<PullImageRequest, PullInput> {
  async function forward({ input, operationId, signal, progress }: StepRun<PullInput, null>) {
    const { reference } = input;
    const pull = { kind: "pullImage", reference } as const;
    const onProgress = (words: string) => progress({ message: words.slice(0, maxMessageLength) });
    const change = { resources: [imageResource(nameOf(reference))], operationId };
    const imageId = await own.during(change, async (also) => {
      const outcome = await runtime.run(pull, { signal, onProgress });
      also(imageResource(outcome.imageId ?? ""));
      await refreshRuntime(runtime);
      return outcome.imageId ?? "";
    });
    return { imageId };
  }

  return {
    kind: {
      kind: "images.pull",
      system: "podman",
      runsOn: "host",
      // Podman itself retries a registry that does not respond three times.
      steps: [
        {
          name: step,
          title: "pulling the image",
          isAbortable: true,
          maxAttempts,
          finalReasons: [podmanReasons.IMAGE_PULL_FAILED],
          forward,
        },
      ],
      pointOfNoReturn: step,
      result: ({ input, output }) => ({ ...(output(step) as PullOutput), reference: input.reference }),
    },
    attachKeyOf: ({ reference }) => reference,
    async check({ reference }, _backend, signal) {
      assertImageReference(reference, "reference");
      const { images } = (await runtime.read(signal)).value;
      const known = images.find(({ names }) => names.includes(nameOf(reference)));
      const change =
        known === undefined
          ? `image ${reference} is pulled to this host`
          : `${nameOf(reference)}, currently ${known.id}, is updated to the registry's version`;
      return {
        resource: imageResource(nameOf(reference)),
        input: { reference },
        step: { kind: "pullImage", reference },
        changes: [change],
        losses: [],
        facts: { id: known?.id ?? "" },
      };
    },
  };
}

type PullOutput = { readonly imageId: string };

/** Returns the name of the pulled image: without a tag it is `latest`. */
function nameOf(reference: string): string {
  const last = reference.slice(reference.lastIndexOf("/"));
  return last.includes(":") || last.includes("@") ? reference : `${reference}:latest`;
}
