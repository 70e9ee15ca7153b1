import { type Backend, BackendKind } from "../../../gen/hostplane/v1/system_pb.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Sentence } from "../../parts/text/sentence.tsx";
import { healthText } from "./backend-health.ts";

const kindTexts: Readonly<Record<number, string>> = {
  [BackendKind.REAL]: "real",
  [BackendKind.SANDBOX]: "sandbox",
  [BackendKind.OFF]: "none",
  [BackendKind.NOT_BUILT]: "none",
};

const columns: readonly Column<Backend>[] = [
  { title: "System", cell: ({ name }) => name },
  { title: "Domain", cell: ({ domain }) => domain },
  {
    title: "Health",
    cell: (backend) => {
      const { tone, text } = healthText(backend);
      return <Badge tone={tone}>{text}</Badge>;
    },
  },
  { title: "Kind", cell: ({ kind }) => kindTexts[kind] ?? "unknown" },
  { title: "Version", cell: ({ version }) => version || <span class="quiet">not known</span> },
  {
    title: "Problems",
    cell: ({ missing }) =>
      missing.length === 0 ? (
        <span class="quiet">none</span>
      ) : (
        missing.map((sentence) => (
          <div key={sentence} class="sentence">
            <Sentence text={sentence} />
          </div>
        ))
      ),
  },
];

/** Every system that the gateway manages, configured or not. */
export function Systems({ backends }: { readonly backends: readonly Backend[] }) {
  return (
    <div class="card">
      <DataTable
        caption="Systems of this gateway"
        columns={columns}
        rows={backends}
        keyOf={({ domain, name }) => `${domain} ${name}`}
        empty="No systems."
      />
    </div>
  );
}
