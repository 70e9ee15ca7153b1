import type { Resource } from "../../gen/hostplane/v1/inventory_pb.ts";
import type { IconName } from "../parts/icon.tsx";
import type { RowAction } from "../parts/table/table-props.ts";

/** What the dashboard knows of a type of the inventory: its page, and what can be done to it. */
export interface ResourceKind {
  /** Type in the inventory. */
  readonly type: string;
  /** Name of one for people: "volume". */
  readonly title: string;
  readonly icon: IconName;
  /** Absolute path of its page; of the list that shows it if it has no page. */
  readonly pathOf: (resource: Resource) => string;
  /** Where it is, in a word or two: its group or host. */
  readonly placeOf?: (resource: Resource) => string;
  /** Whether it is off on purpose, which its health does not say. */
  readonly isOff?: (resource: Resource) => boolean;
  /** What the user may do to it. */
  readonly actions: () => readonly RowAction<Resource>[];
}
