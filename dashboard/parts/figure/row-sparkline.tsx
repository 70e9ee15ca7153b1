import { useRowHistory } from "../../live/row-history.ts";
import { Sparkline } from "./sparkline.tsx";

/** The last 24 hours of a figure of a row's resource. @param figure such as "used" */
export function RowSparkline(props: {
  readonly resource: string;
  readonly figure: string;
  readonly label: string;
}) {
  const series = useRowHistory(props.resource)?.figures.get(props.figure);
  return <Sparkline values={series?.values ?? []} label={`${props.label}, last 24 hours`} />;
}
