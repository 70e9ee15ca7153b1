import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { actionOf, propose, proposeAll } from "../../action/action.ts";
import { figureOf } from "../../live/inventory.ts";
import type { RowAction } from "../../parts/table/table-props.ts";

/** What an operator may do to an image. */
export const imageActions: readonly RowAction<Resource>[] = [
  {
    text: "Remove…",
    icon: "trash",
    key: "delete",
    isDestructive: true,
    run: (image) => propose(removalOf(image)),
    runAll: (images) => {
      const [only] = images;
      if (only !== undefined && images.length === 1) {
        propose(removalOf(only));
      } else {
        const title = `Remove ${images.length} images`;
        proposeAll(
          title,
          title,
          images.map((image) => actionOf(removalOf(image))),
          String(images.length),
        );
      }
    },
  },
];

/** An image in use is removed with its containers. */
function removalOf(image: Resource) {
  const isUsed = (figureOf(image, "containers") ?? 0) > 0;
  return {
    title: `Remove the image ${image.title}`,
    label: isUsed ? "Remove with its containers" : "Remove",
    method: PodService.method.removeImage,
    request: { image: image.properties.id ?? image.title, force: isUsed },
    isDangerous: true,
    confirmName: image.title,
  };
}
