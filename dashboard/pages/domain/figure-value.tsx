import type { Figure } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureText } from "../../parts/text/figure-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";

/** A figure of the inventory in its unit; "—" if it is unknown. */
export function FigureValue({ of }: { readonly of: Figure | undefined }) {
  if (of === undefined) {
    return <span class="quiet">—</span>;
  }
  // In the inventory, seconds are a time.
  return of.unit === "seconds" ? (
    <TimeText atMs={of.value * 1000} />
  ) : (
    <span>{figureText(of.value, of.unit)}</span>
  );
}
