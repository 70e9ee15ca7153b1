import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { Note } from "../parts/note.tsx";
import { isOutdated } from "../session.ts";

/**
 * Shows an error instead of a blank page. A page's code may be missing, for example after an upgrade of the gateway, or throw.
 */
export function PageBoundary({ children }: { readonly children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary();
  const [location] = useLocation();
  // Another address gets a new try.
  useEffect(() => reset, [location]);
  return error === undefined ? children : <Unshown error={error} />;
}

function Unshown({ error }: { readonly error: unknown }) {
  return (
    <Note tone="bad" role="alert">
      <h1>This page cannot be shown</h1>
      <p>
        {isOutdated.value
          ? "The gateway's version has changed since this page was loaded."
          : "The gateway's version may have changed since this page was loaded, or the page has a bug."}
      </p>
      <p class="quiet">{error instanceof Error ? error.message : String(error)}</p>
      <button type="button" class="main" onClick={() => globalThis.location.reload()}>
        Reload
      </button>
    </Note>
  );
}
