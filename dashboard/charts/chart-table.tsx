import { useSignal } from "@preact/signals";
import { DataTable } from "../parts/table/data-table.tsx";
import { TimeText } from "../parts/text/time-text.tsx";
import { type Moment, tableMoments } from "./time-series.ts";

/** The figures of a chart as a table, which is drawn only while it is open. @param text formats a figure with its unit */
export function ChartTable(props: {
  readonly title: string;
  readonly titles: readonly string[];
  readonly moments: readonly Moment[];
  readonly text: (figure: number) => string;
}) {
  const { title, titles, moments, text } = props;
  const known = (figure: number | undefined) => (figure === undefined ? "—" : text(figure));
  const isOpen = useSignal(false);
  return (
    <details
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary class="quiet small" aria-label={`${title} as a table`}>
        Table
      </summary>
      {isOpen.value && (
        <DataTable
          name="values"
          caption={`${title}, newest first`}
          columns={[
            { id: "since", title: "Since", cell: ({ atMs }: Moment) => <TimeText atMs={atMs} /> },
            ...titles.map((each, index) => ({
              id: each,
              title: each,
              width: "figure" as const,
              isNumber: true,
              onCard: "figure" as const,
              cell: ({ figures }: Moment) => known(figures[index]),
            })),
          ]}
          rows={tableMoments(moments)}
          keyOf={({ atMs }) => String(atMs)}
          titleOf={({ atMs }) => String(atMs)}
          hasTools={false}
          empty="No figures yet."
        />
      )}
    </details>
  );
}
