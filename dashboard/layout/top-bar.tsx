import { Link } from "wouter-preact";
import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";
import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { Icon } from "../parts/icon.tsx";
import { Key } from "../parts/key.tsx";
import { Status } from "../parts/status.tsx";
import { ConnectionState } from "./connection-state.tsx";
import { pageHead } from "./page.tsx";
import type { PageEntry } from "./pages.ts";
import { openPalette } from "./palette.tsx";
import { isTrayOpen } from "./tray.tsx";

/** The page's title, the search, operations and the state of the connection. */
export function TopBar(props: {
  readonly page: PageEntry | undefined;
  /** Those in progress or that need attention. */
  readonly operations: readonly Operation[];
}) {
  const { page, operations } = props;
  return (
    <header class="top">
      <Place page={page} />
      <button type="button" class="finder" aria-label="Search or run a command" onClick={openPalette}>
        <Icon name="search" />
        <span>Search or run a command</span>
        <Key text="Ctrl K" />
      </button>
      <OperationCounts operations={operations} />
      <ConnectionState />
    </header>
  );
}

function Place({ page }: { readonly page: PageEntry | undefined }) {
  const { title, note, parents } = pageHead.value;
  if (parents === undefined) {
    return (
      <div class="place">
        <h1>{title || page?.title}</h1>
        {note !== undefined && <span class="quiet">{note}</span>}
      </div>
    );
  }
  return (
    <nav class="place" aria-label="Place">
      {parents.map((parent) => (
        <span key={parent.path}>
          <Link href={`~${parent.path}`}>{parent.title}</Link>
          <span class="quiet"> /</span>
        </span>
      ))}
      <span class="quiet">{title}</span>
    </nav>
  );
}

function OperationCounts({ operations }: { readonly operations: readonly Operation[] }) {
  const attention = operations.filter(({ state }) => state === OperationState.NEEDS_ATTENTION).length;
  const running = operations.length - attention;
  return (
    <button
      type="button"
      class="bare counts"
      aria-expanded={isTrayOpen.value}
      aria-label={`Operations: ${running} in progress, ${attention} need attention`}
      onClick={() => {
        isTrayOpen.value = !isTrayOpen.value;
      }}
    >
      <Status kind={running > 0 ? "running" : "off"} /> {running}
      {attention > 0 && (
        <>
          <Status kind="failed" /> {attention}
        </>
      )}
    </button>
  );
}
