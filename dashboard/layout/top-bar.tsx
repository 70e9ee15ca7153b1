import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { failedOperations, unsettledOperations } from "../live/current-operations.ts";
import { Icon } from "../parts/icon.tsx";
import { Key } from "../parts/key.tsx";
import { Status } from "../parts/status.tsx";
import { pageHead } from "../shell/page.tsx";
import { isTrayOpen } from "../shell/tray-state.ts";
import { ConnectionState } from "./connection-state.tsx";
import type { PageEntry } from "./pages.ts";
import { openPalette } from "./palette.tsx";

/** The page's title, the search, operations and the state of the connection. */
export function TopBar(props: {
  readonly page: PageEntry | undefined;
  /** Before the title, where the navigation is not in view. */
  readonly switcher: ComponentChildren;
}) {
  const { page, switcher } = props;
  return (
    <header class="top">
      {switcher}
      <Place page={page} />
      <button type="button" class="finder" aria-label="Search or run a command" onClick={() => openPalette()}>
        <Icon name="search" />
        <span>Search or run a command</span>
        <Key text="Ctrl K" />
      </button>
      <OperationCounts />
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

function OperationCounts() {
  const unsettled = unsettledOperations.value.value ?? [];
  const attention = unsettled.filter(({ state }) => state === OperationState.NEEDS_ATTENTION).length;
  const running = unsettled.length - attention;
  const failed = attention + failedOperations.value.length;
  return (
    <button
      type="button"
      class="bare counts"
      aria-expanded={isTrayOpen.value}
      aria-label={`Operations: ${running} in progress, ${failed} failed`}
      onClick={() => {
        isTrayOpen.value = !isTrayOpen.value;
      }}
    >
      <Status kind={running > 0 ? "running" : "off"} /> {running}
      {failed > 0 && (
        <>
          <Status kind="failed" /> {failed}
        </>
      )}
    </button>
  );
}
