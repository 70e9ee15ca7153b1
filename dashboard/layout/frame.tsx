import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Suspense } from "preact/compat";
import { useEffect, useRef } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { ActionDialog } from "../action/action-dialog.tsx";
import type { Session } from "../session.ts";
import { Account } from "./account.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { ConnectionState } from "./connection-state.tsx";
import { Navigation } from "./navigation.tsx";
import { type PageEntry, pageAt } from "./pages.ts";

/** What surrounds every page: which gateway it is, the navigation, who is logged in, and what is told about the connection. */
export function Frame(props: {
  readonly pages: readonly PageEntry[];
  readonly session: Session & { readonly state: "in" };
  readonly children: ComponentChildren;
}) {
  const { caller, info } = props.session;
  const isMenuOpen = useSignal(false);
  const page = usePage(props.pages, `hostplane${info.sandbox ? " sandbox" : ""} on ${info.hostname}`, () => {
    isMenuOpen.value = false;
  });
  return (
    <div class="frame">
      <header>
        <button type="button" class="skip" onClick={focusContent}>
          To the content
        </button>
        <button
          type="button"
          class="menu"
          aria-expanded={isMenuOpen.value}
          aria-controls="side"
          onClick={() => {
            isMenuOpen.value = !isMenuOpen.value;
          }}
        >
          Menu
        </button>
        <Link href="/" class="name">
          hostplane
        </Link>
        {info.sandbox && (
          <span class="sandbox" title="Its systems are made up; nothing on the host is touched.">
            Sandbox
          </span>
        )}
        <span class="host" title={`hostplane ${info.version}`}>
          {info.hostname}
        </span>
        <ConnectionState />
      </header>
      <div id="side" class={isMenuOpen.value ? "side open" : "side"}>
        <Navigation pages={props.pages} />
        <Account caller={caller} version={info.version} />
      </div>
      <main id="content" tabIndex={-1}>
        <ConnectionBanner />
        <Suspense
          key={page?.path}
          fallback={
            <p role="status" class="reading">
              Loading …
            </p>
          }
        >
          {props.children}
        </Suspense>
      </main>
      <ActionDialog />
    </div>
  );
}

/** The page that the address names: its title is the document's, and the focus goes to it when it is another one. */
function usePage(pages: readonly PageEntry[], place: string, onChange: () => void): PageEntry | undefined {
  const [location] = useLocation();
  const page = pageAt(pages, location);
  const shown = useRef(page?.path);
  useEffect(() => {
    document.title = `${page?.title ?? "No such page"} · ${place}`;
    if (shown.current !== page?.path) {
      shown.current = page?.path;
      onChange();
      scrollTo(0, 0);
      focusContent();
    }
  }, [page, place]);
  return page;
}

/** No link, since the address' hash is the page's route. */
function focusContent(): void {
  document.getElementById("content")?.focus({ preventScroll: true });
}
