import type { VisibilityBounds } from "../../domain/visibility.ts";
import type { InventoryPart, InventoryProblem } from "./read-inventory.ts";

/** Returns a part of this gateway without the resources that the caller may not see. */
export function visiblePart(part: InventoryPart, bounds: VisibilityBounds | undefined): InventoryPart {
  if (bounds === undefined) {
    return part;
  }
  const { services, version, rows, problems } = part;
  return {
    ...part,
    version: [...version, bounds],
    rows: rows.filter(({ resource }) => bounds.covers({ services, resource: resource.name })),
    problems: problems.map(withoutDetails),
  };
}

/** The message of a problem may name any resource. */
export function withoutDetails(problem: InventoryProblem): InventoryProblem {
  return { ...problem, message: `the ${problem.domain} are incomplete or not up to date` };
}
