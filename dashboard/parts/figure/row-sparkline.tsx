import { useRowHistories } from "../../live/row-history.ts";
import { Sparkline } from "./sparkline.tsx";
import { sumValues } from "./sum-values.ts";

/** The last 24 hours of a figure of a row. @param figure such as "used" */
export function RowSparkline(props: {
  /** Name of the row's resource; of several, the sum is shown. */
  readonly resource: string | readonly string[];
  readonly figure: string;
  readonly label: string;
}) {
  const { resource, figure, label } = props;
  const all = useRowHistories(typeof resource === "string" ? [resource] : resource);
  const values = sumValues(all.map((series) => series?.figures.get(figure)?.values ?? []));
  return <Sparkline values={values} label={`${label}, last 24 hours`} />;
}
