import {
  InventoryService,
  type Resource,
  ResourceHealthSchema,
} from "../../../gen/hostplane/v1/inventory_pb.ts";
import { type Watch, watch } from "./command.ts";
import { enumText } from "./enum-text.ts";
import { printableLine } from "./printable-line.ts";
import { sizeText } from "./size-text.ts";

/**
 * Declares a `--watch` that follows the inventory, for resources that have no stream of their own.
 * @param types of the inventory, such as `volume`
 */
export function watchResources(...types: readonly string[]): Watch {
  return watchInventory(() => ({ types: [...types] }));
}

/** Declares a `--watch` that follows what a filter selects. */
export function watchInventory<Given>(filterFrom: (values: Given) => object): Watch {
  return watch({
    method: InventoryService.method.watchResources,
    request: (values: Given) => ({ filter: filterFrom(values) }),
    createLines:
      () =>
      ({ changed, removed, removedOnHosts }) => [
        ...changed.map(resourceLine),
        ...removed.map((name) => printableLine(`${name} removed`)),
        ...removedOnHosts.map(({ host, name }) => printableLine(`${host}: ${name} removed`)),
      ],
  });
}

function resourceLine(item: Resource): string {
  const health = enumText(ResourceHealthSchema, item.health);
  const host = item.host === "" ? "" : `${item.host}: `;
  return printableLine(`${host}${item.name} ${item.state}, ${health}: ${figuresText(item)}`);
}

/** Formats figures as `size 2 GiB, used 40 %`. */
export function figuresText({ figures }: Pick<Resource, "figures">): string {
  return figures.map(({ name, value, unit }) => `${name} ${figureText(value, unit)}`).join(", ");
}

/** Formats the value of a figure in its unit. */
function figureText(value: number, unit: string): string {
  if (unit === "bytes") {
    return sizeText(BigInt(Math.round(value)));
  }
  return unit === "percent" ? `${Number(value.toFixed(1))} %` : String(value);
}
